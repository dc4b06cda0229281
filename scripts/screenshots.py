"""Pictures of the report and the explorer in docs/images, from the run of `make demo`."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

RUN = Path("runs/demo")
IMAGES = Path("docs/images")
PORT = 8765


def main() -> None:
    program = shutil.which("chromium")
    if program is None or not (RUN / "config.toml").exists():
        sys.exit("screenshots: run `make demo` first, and install chromium")
    command = [sys.executable, "-m", "kgflow", "serve", str(RUN), "--port", str(PORT)]
    server = subprocess.Popen(command)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--headless", "--no-sandbox"]
            )
            page = browser.new_page(
                viewport={"width": 1280, "height": 1010}, reduced_motion="reduce"
            )
            page.goto((RUN / "report.html").absolute().as_uri())
            page.screenshot(path=IMAGES / "report.png")
            wait(f"http://127.0.0.1:{PORT}/v1/health")
            page.goto(f"http://127.0.0.1:{PORT}/entity?name=France")
            page.wait_for_load_state("networkidle")
            page.screenshot(path=IMAGES / "explorer.png")
            browser.close()
    finally:
        server.terminate()
        server.wait()


def wait(address: str) -> None:
    for _ in range(300):
        try:
            with urlopen(address) as answer:
                answer.read()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"screenshots: {address} does not answer")


if __name__ == "__main__":
    main()
