"""Zabbix' PHP frontend under PHP's own web server, its API and its pages."""

import base64
import http.cookiejar
import json
import os
import urllib.error
import urllib.parse
import urllib.request

from . import proc

# one extracted tree serves all databases: each PHP server has its environment
CONF = """<?php
$DB['TYPE'] = getenv('ZBX_TEST_TYPE');
$DB['SERVER'] = getenv('ZBX_TEST_HOST');
$DB['PORT'] = getenv('ZBX_TEST_PORT');
$DB['DATABASE'] = getenv('ZBX_TEST_DATABASE');
$DB['USER'] = 'zabbix';
$DB['PASSWORD'] = '';
$DB['SCHEMA'] = '';
$DB['ENCRYPTION'] = false;
$DB['VERIFY_HOST'] = false;
$DB['CIPHER_LIST'] = '';
$DB['KEY_FILE'] = '';
$DB['CERT_FILE'] = '';
$DB['CA_FILE'] = '';
$DB['VAULT'] = '';
$DB['VAULT_URL'] = '';
$DB['VAULT_DB_PATH'] = '';
$DB['VAULT_TOKEN'] = '';
$DB['DOUBLE_IEEE754'] = true;
$ZBX_SERVER = '127.0.0.1';
$ZBX_SERVER_PORT = getenv('ZBX_TEST_SERVER_PORT');
$ZBX_SERVER_NAME = 'zbxhist';
$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
"""

PHP_INI = {
    "post_max_size": "16M",
    "max_execution_time": "300",
    "max_input_time": "300",
    "memory_limit": "512M",
    "opcache.enable_cli": "1",
    "date.timezone": "UTC",
    "log_errors": "1",
    "display_errors": "0",
    "error_log": "/dev/stderr",
}


class Frontend:
    """php -S for one database."""

    def __init__(self, release, cluster, server, directory):
        self.release = release
        self.cluster = cluster
        self.server = server
        self.log = f"{directory}/php.log"
        self.sessions = directory
        self.process = None
        self.auth = None

    def start(self):
        """Starts PHP and logs in, by the API and as a browser would."""
        root = self.release.frontend
        with open(f"{root}/conf/zabbix.conf.php", "w") as conf:
            conf.write(CONF)
        port = proc.free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings = {**PHP_INI, "session.save_path": self.sessions}
        options = [text for key, value in settings.items() for text in ("-d", f"{key}={value}")]
        self.process = proc.start(
            ["php", *options, "-S", f"127.0.0.1:{port}", "-t", root],
            self.log,
            cwd=root,
            env={
                **os.environ,
                "ZBX_TEST_TYPE": self.cluster.kind,
                "ZBX_TEST_HOST": self.cluster.host,
                "ZBX_TEST_PORT": str(self.cluster.port),
                "ZBX_TEST_DATABASE": self.server.database,
                "ZBX_TEST_SERVER_PORT": str(self.server.port),
            },
        )
        proc.wait_for("the PHP server", self._answers)
        self.auth = None
        self.auth = self.api("user.login", username="Admin", password="zabbix")
        self._log_in()

    def _answers(self):
        """Does PHP answer, and the database behind it?"""
        try:
            return self.api("apiinfo.version")
        except OSError:
            return None

    def _log_in(self):
        """A browser's session: the pages do not take the API's token."""
        self.cookies = http.cookiejar.CookieJar()
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.page(
            "index.php",
            {"name": "Admin", "password": "zabbix", "autologin": "1", "enter": "Sign in"},
        )

    def stop(self):
        """Stops PHP."""
        if self.process:
            proc.stop(self.process)
            self.process = None

    def api(self, method, _params=None, **params):
        """One JSON-RPC call; a Failure carries Zabbix' own message."""
        request = {
            "jsonrpc": "2.0",
            "method": method,
            "id": 1,
            "params": params if _params is None else _params,
        }
        if self.auth:
            request["auth"] = self.auth
        answer = urllib.request.urlopen(
            urllib.request.Request(
                f"{self.url}/api_jsonrpc.php",
                json.dumps(request).encode(),
                {"Content-Type": "application/json-rpc"},
            ),
            timeout=120,
        )
        body = answer.read()
        try:
            reply = json.loads(body)
        except ValueError:
            raise proc.Failure(f"{method}: not JSON: {body[:1000]!r}")
        if "result" not in reply:
            raise proc.Failure(f"{method}: {reply.get('error')}")
        return reply["result"]

    def page(self, path, form=None, body=None, **query):
        """Fetches a page, with form it posts the form, with body JSON;
        returns (status, content type, body)."""
        request = urllib.request.Request(f"{self.url}/{path}")
        if query:
            request.full_url += "?" + urllib.parse.urlencode(query, doseq=True)
        if form:
            request.data = urllib.parse.urlencode(form, doseq=True).encode()
        elif body:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with self.browser.open(request, timeout=120) as answer:
                return (answer.status, answer.headers.get_content_type(), answer.read())
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get_content_type(), error.read()

    def form_token(self):
        """What 6.0 wants with each form: a part of the session's id."""
        for cookie in self.cookies:
            if cookie.name == "zbx_session":
                raw = base64.b64decode(urllib.parse.unquote(cookie.value))
                return json.loads(raw)["sessionid"][16:32]
        raise proc.Failure("the frontend gave no session cookie")
