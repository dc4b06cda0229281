// Requests to the HTTP interface.

const TOKEN = "kgflow-token";

/** An error response, with the message of the server. */
export class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new RequestError(0, "The server does not respond. Is it still running?");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new RequestError(response.status, problem.detail ?? `The server responded with ${response.status}.`);
}

const queryString = (parameters) => {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item) => [name, item]));
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
};

export const get = async (path, parameters = {}) => (await call(path + queryString(parameters))).json();

export const post = async (path, body) =>
  (await call(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  })).json();

let run;
/** The description of the run, requested once. */
export const getRun = () => (run ??= get("/v1/run").catch((error) => { run = undefined; throw error; }));

/** The URL of a plot, fetched by script since an <img> sends no token. */
export async function plotUrl(path, parameters = {}) {
  const response = await call(path + queryString(parameters));
  return URL.createObjectURL(await response.blob());
}

export const saveToken = (token) => sessionStorage.setItem(TOKEN, token);
