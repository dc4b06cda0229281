// The service behind the page.

const TOKEN = "kgflow-token";

/** What the service refused, in its own sentence. */
export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function call(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch {
    throw new Refused(0, "The service does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, problem.detail ?? `The service answered ${answer.status}.`);
}

const query = (parameters) => {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, one]));
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
};

export const get = async (path, parameters = {}) => (await call(path + query(parameters))).json();

export const post = async (path, body) =>
  (await call(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  })).json();

let run;
/** The run, asked for once. */
export const theRun = () => (run ??= get("/v1/run").catch((error) => { run = undefined; throw error; }));

/** A picture's address; fetched here, since an <img> sends no token. */
export async function picture(path, parameters = {}) {
  const answer = await call(path + query(parameters));
  return URL.createObjectURL(await answer.blob());
}

export const remember = (token) => sessionStorage.setItem(TOKEN, token);
