"""Which parts of the scenario run on which versions."""

from . import proc
from .debs import Unavailable
from .scenario import Scenario
from .site import Site


# what administrators and the clock do to a running Zabbix
ALL_PARTS = (
    "arrival",
    "duplicates",
    "calculated",
    "reads",
    "maintenance",
    "packing",
    "packed_reads",
    "packed_triggers",
    "late_values",
    "trends",
    "clear_history",
    "delete_items",
    "housekeeper",
    "retention",
    "undo",
    "audit_log",
    "monitoring",
    "check_logs",
)
# ... and what of it must be seen again on 7.0's own schema, after the story of
# the upgraded database has been told
CORE_PARTS = (
    "arrival",
    "duplicates",
    "maintenance",
    "packing",
    "retention",
    "audit_log",
    "check_logs",
)


class Plan:
    """Runs the whole suite: for each version a new database with all parts, then the upgrade of
    the 6.0 database."""

    def __init__(self, tap, store, cluster, directory, options):
        self.tap = tap
        self.store = store
        self.cluster = cluster
        self.directory = directory
        self.quick = options.quick
        self.plain_only = options.plain
        self.versions = options.version

    def play(self):
        """Runs everything that was asked for."""
        releases = {version: self._release(version) for version in self.versions}
        sixth, seventh = releases.get("6.0"), releases.get("7.0")
        story = None
        if sixth:
            story = self.fresh(sixth)
            if seventh:
                story = self.upgrade(story, seventh)
            self.finish(story)
        if seventh:
            parts = CORE_PARTS if sixth else ALL_PARTS
            self.finish(self.fresh(seventh, live=True, parts=parts))

    def _release(self, version):
        """A version of Zabbix, or a skipped test with the reason."""
        try:
            release = self.store.release(version)
        except Unavailable as reason:
            self.tap.skip(f"Zabbix {version}", reason)
            return None
        self.tap.note(f"Zabbix {release.full_version}")
        return release

    def template(self, release):
        """A database with the schema and the initial data of a version."""
        name = f"template_{release.version}"
        self.cluster.create(name)
        for script in ("schema", "images", "data"):
            self.cluster.load(name, f"{release.sql}/{script}.sql.gz")
        self.tap.step(f"schema of {release.version} loaded")
        return name

    def sites(self, release):
        """The plain site and the managed one, equal to the last item id."""
        template = self.template(release)
        sites = []
        for kind in ("plain", "managed"):
            database = f"zabbix_{kind}_{release.version.replace('.', '')}"
            self.cluster.create(database, template)
            managed = kind == "managed" and not self.plain_only
            site = Site(self.cluster, self.directory, database, managed)
            site.attach(release)
            site.prepare()
            sites.append(site)
        self.cluster.drop(template)
        return sites

    def fresh(self, release, live=False, parts=ALL_PARTS):
        """The story of a new Zabbix, with zbxhist from before its first start, or set up while
        it runs."""
        self.tap.step(f"a new Zabbix {release.version}")
        story = Scenario(self.tap, release.version, self.sites(release), self.quick)
        if not live:
            for site in story.managed:
                story.set_up(site)
        story.start()
        story.create_items()
        if live:
            self._part(story, "set_up_live")
        self._parts(story, parts)
        return story

    def _parts(self, story, parts):
        """Runs some parts one after the other."""
        for part in parts:
            self._part(story, part)

    def _part(self, story, part):
        """Runs one part, and announces it; its failure is one failed test."""
        self.tap.step(f"{story.version}: {part.replace('_', ' ')}")
        try:
            getattr(story, part)()
        except proc.Failure as failure:
            self.tap.ok(
                False,
                f"{story.version}: {part}",
                failure,
                *(proc.tail(site.server.log) for site in story.sites),
            )

    def upgrade(self, old, release):
        """7.0 upgrades the databases that 6.0 has made and filled."""
        self.tap.step(f"upgrade {old.version} to {release.version}")
        old.stop()
        story = Scenario(self.tap, release.version, old.sites, self.quick)
        story.model.stored = old.model.stored
        for site in story.sites:
            site.attach(release)
        story.start(timeout=180)
        for site in story.sites:
            done = "database upgrade fully completed" in site.server.read_log()
            self.tap.ok(done, story.name(site, "the upgrade went through"))
            story.compare(site, "after the upgrade")
        self.take_up(story)
        self._parts(story, ALL_PARTS)
        return story

    def take_up(self, story):
        """history_bin is new in 7.0: maintenance makes it a parent."""
        for site in story.managed:
            site.query("CALL zbxhist.run_maintenance();")
            story.check_managed(site)
        for site in story.sites:
            site.add_binary_items()
            site.reload()

    def finish(self, story):
        """The end of a story: without the extension, and with it again."""
        self._parts(story, ("drop_extension", "check_logs", "stop"))
        for site in story.sites:
            self.cluster.drop(site.database)
