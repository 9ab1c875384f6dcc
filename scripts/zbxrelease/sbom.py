"""The bill of materials of a release, CycloneDX 1.5: the sources, code of others in them, and
dependencies.  It is computed from the Makefile, META.json, the control files and
debian/copyright."""

import json
import re
import uuid

from . import versions

# the library of a -l option in the Makefile
LIBRARIES = {
    "zstd": ("BSD-3-Clause", "https://github.com/facebook/zstd", "compresses packed days"),
}
# licences of debian/copyright and their SPDX names
SPDX = {"Expat": "MIT"}


def licence(name):
    """The licence of a component."""
    return [{"license": {"id": SPDX.get(name, name)}}]


def extension(tree, name, version):
    """One of the two extensions."""
    control = versions.read(tree, f"{name}.control")
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": versions.sql_version(version),
        "description": re.search(r"^comment = '(.*)'$", control, re.M).group(1),
        "licenses": licence("PostgreSQL"),
    }


def libraries(tree):
    """The libraries that the extension's library is linked with."""
    linked = re.search(r"^SHLIB_LINK *= *(.*)$", versions.read(tree, "Makefile"), re.M).group(1)
    for name in re.findall(r"-l(\S+)", linked):
        spdx, address, use = LIBRARIES[name]
        yield {
            "type": "library",
            "bom-ref": f"lib{name}",
            "name": f"lib{name}",
            "description": use,
            "licenses": licence(spdx),
            "purl": f"pkg:generic/{name}",
            "externalReferences": [{"type": "website", "url": address}],
        }


def server(meta):
    """PostgreSQL, with the oldest version that is supported."""
    oldest = meta["prereqs"]["runtime"]["requires"]["PostgreSQL"]
    return {
        "type": "platform",
        "bom-ref": "postgresql",
        "name": "PostgreSQL",
        "description": f"the server that loads the library, version {oldest.split('.')[0]} or later",
        "licenses": licence("PostgreSQL"),
        "purl": "pkg:generic/postgresql",
    }


def others(tree):
    """Code of others in the archive that is in no package."""
    for stanza in versions.read(tree, "debian/copyright").split("\n\n")[1:]:
        fields = dict(re.findall(r"^(\S+): (.*)$", stanza, re.M))
        if fields.get("Files", "*") != "*":
            yield {
                "type": "data",
                "bom-ref": fields["Files"],
                "name": fields["Files"],
                "copyright": fields["Copyright"],
                "licenses": licence(fields["License"]),
                "scope": "excluded",
            }


def main_component(meta, digest):
    """The release itself; digest is the SHA-256 of its archive."""
    return {
        "type": "library",
        "bom-ref": meta["name"] + "-source",
        "name": meta["name"],
        "version": meta["version"],
        "description": meta["abstract"],
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": licence("PostgreSQL"),
        "purl": f"pkg:generic/{meta['name']}@{meta['version']}",
    }


def make(tree, version, date, digest):
    """Returns the whole document; it is always the same for the same sources."""
    meta = json.loads(versions.read(tree, "META.json"))
    main = main_component(meta, digest)
    extensions = [extension(tree, name, version) for name in meta["provides"]]
    needed = [*libraries(tree), server(meta)]
    needs = [part["bom-ref"] for part in needed]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, f"{main['purl']}#{digest}").urn,
        "version": 1,
        "metadata": {"timestamp": f"{date}T00:00:00Z", "component": main},
        "components": [*extensions, *needed, *others(tree)],
        "dependencies": [
            {"ref": main["bom-ref"], "dependsOn": [part["bom-ref"] for part in extensions]},
            *({"ref": part["bom-ref"], "dependsOn": needs} for part in extensions),
            *({"ref": name, "dependsOn": []} for name in needs),
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
