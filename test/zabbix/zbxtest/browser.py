"""A headless Chromium, controlled through its debugging pipe."""

import base64
import json
import os
import subprocess
import time

from . import proc


class Browser:
    """One page, with the cookies of a session."""

    def __init__(self, directory):
        self.directory = directory
        self.number = 0
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        self.rest = b""
        with open(f"{directory}/chromium.log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    "chromium",
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--remote-debugging-pipe",
                    f"--user-data-dir={directory}/chromium",
                    "--window-size=1400,1000",
                    "about:blank",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(3, 4),
                preexec_fn=lambda: (_place(to_read, to_write)),
            )
        os.close(to_read)
        os.close(to_write)
        proc.adopt(self.process)
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self._ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]

    def _ask(self, method, session=None, **params):
        """One command and its answer; what the browser tells unasked is passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise proc.Failure(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self):
        while b"\0" not in self.rest:
            data = os.read(self.read_end, 1 << 16)
            if not data:
                raise proc.Failure("the browser has ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def log_in(self, url, cookies):
        """Takes over the cookies of a session."""
        for cookie in cookies:
            self._ask(
                "Network.setCookie", self.session, name=cookie.name, value=cookie.value, url=url
            )

    def open(self, url, seconds):
        """Goes to a page, and stays there while it asks for what belongs to it."""
        self._ask("Page.navigate", self.session, url=url)
        time.sleep(seconds)

    def screenshot(self, path):
        """What a person would see."""
        data = self._ask("Page.captureScreenshot", self.session, format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))


def _place(to_read, to_write):
    """The pipe is where the browser looks for it, whatever numbers it has here."""
    first, second = os.dup(to_read), os.dup(to_write)
    os.dup2(first, 3)
    os.dup2(second, 4)
