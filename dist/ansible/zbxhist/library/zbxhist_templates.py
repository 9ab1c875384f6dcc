#!/usr/bin/python3
"""A module for Ansible: has a Zabbix import the templates of dist/zabbix by its API.

It asks by configuration.importcompare first, and imports only what is not there as
it is in the file for this version of Zabbix.
"""

import json
import os
import re

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url

DOCUMENTATION = """
module: zbxhist_templates
short_description: Imports the Zabbix templates of zbxhist
options:
  url: {description: The frontend's address, type: str, required: true}
  token: {description: A token of its API, type: str}
  user: {description: "Without a token, who logs in", type: str}
  password: {description: "... and the password", type: str}
  validate_certs: {description: Is the certificate to be verified?, type: bool, default: true}
  directory: {description: Where the templates' files are, type: path, required: true}
"""

KINDS = (
    "templates",
    "templateDashboards",
    "valueMaps",
    "items",
    "discoveryRules",
    "triggers",
    "graphs",
)


class Refused(Exception):
    """An error that Zabbix returns."""


def numbers(version):
    """The first two numbers of a version, for comparisons."""
    return tuple(int(part) for part in version.split(".")[:2])


class Api:
    """Zabbix's API."""

    def __init__(self, url, validate_certs):
        self.url = url if url.endswith(".php") else f"{url.rstrip('/')}/api_jsonrpc.php"
        self.validate_certs = validate_certs
        self.token = None
        self.version = numbers(self.call("apiinfo.version"))

    def call(self, method, **parameters):
        """Calls a method; returns its result."""
        request = {"jsonrpc": "2.0", "method": method, "params": parameters, "id": 1}
        headers = {"Content-Type": "application/json-rpc"}
        # 6.4 accepts both ways, 7.2 only the first
        if self.token and self.version >= (6, 4):
            headers["Authorization"] = f"Bearer {self.token}"
        elif self.token:
            request["auth"] = self.token
        answer = open_url(
            self.url,
            method="POST",
            data=json.dumps(request),
            headers=headers,
            validate_certs=self.validate_certs,
            timeout=120,
        )
        reply = json.loads(answer.read())
        if "result" not in reply:
            error = reply.get("error", {})
            raise Refused(f"{method}: {error.get('data') or error.get('message')}")
        return reply["result"]


def file_for(version, directory):
    """The file for a version of Zabbix: that of the latest format that it can read."""
    found = {}
    for name in os.listdir(directory):
        match = re.fullmatch(r"zbxhist-(\d+\.\d+)\.yaml", name)
        if match and numbers(match.group(1)) <= version:
            found[numbers(match.group(1))] = os.path.join(directory, name)
    if not found:
        raise Refused(f"{directory} has no template for this version of Zabbix")
    return found[max(found)]


def comparable(value):
    """The answer of importcompare without apparent differences: line ends, and passwords, which
    7.0 does not export."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items() if key != "password"}
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return value.replace("\r", "") if isinstance(value, str) else value


def is_different(found):
    """Does the answer of importcompare have a difference?"""
    return bool(found) and any(
        "added" in changes
        or "removed" in changes
        or any(
            each.pop("before") != each.pop("after") or is_different(each)
            for each in changes["updated"]
        )
        for changes in found.values()
    )


def bring(api, directory, is_check):
    """Imports the file if it differs; returns its name and whether anything was changed."""
    path = file_for(api.version, directory)
    everything = {"createMissing": True, "updateExisting": True}
    rules = dict.fromkeys(KINDS, everything)
    rules["groups" if api.version < (6, 2) else "template_groups"] = everything
    with open(path, encoding="utf-8") as file:
        content = {"format": "yaml", "rules": rules, "source": file.read()}

    def compare():
        return comparable(api.call("configuration.importcompare", **content))

    before = json.dumps(compare())
    if not is_different(json.loads(before)):
        return path, False
    if is_check:
        return path, True
    api.call("configuration.import", **content)
    # importcompare may report differences that an import does not change
    return path, json.dumps(compare()) != before


def main():
    """Reads the arguments, does it, and reports to Ansible."""
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "token": {"type": "str", "no_log": True},
            "user": {"type": "str"},
            "password": {"type": "str", "no_log": True},
            "validate_certs": {"type": "bool", "default": True},
            "directory": {"type": "path", "required": True},
        },
        required_one_of=[("token", "user")],
        required_together=[("user", "password")],
        supports_check_mode=True,
    )
    given = module.params
    try:
        api = Api(given["url"], given["validate_certs"])
        if given["token"]:
            api.token = given["token"]
        else:
            api.token = api.call("user.login", username=given["user"], password=given["password"])
        path, is_changed = bring(api, given["directory"], module.check_mode)
        if not given["token"]:
            api.call("user.logout")
    except (Refused, OSError, ValueError) as problem:
        module.fail_json(msg=f"{given['url']}: {problem}")
    module.exit_json(changed=is_changed, file=path)


if __name__ == "__main__":
    main()
