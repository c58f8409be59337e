"""What a machine is said to be, and how its disk and memory are read."""

from pathlib import Path

from laneway_bench.machine import (
    cpu_model,
    fdatasync_per_s,
    filesystem,
    machine_facts,
    resident_bytes,
)

MOUNTS = """\
/dev/vda / ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
/dev/vdb /srv/data xfs rw 0 0
"""


def test_the_processor_is_named_as_the_kernel_names_it() -> None:
    assert cpu_model("processor : 0\nmodel name\t: Quick One @ 2 GHz\n") == "Quick One @ 2 GHz"
    assert cpu_model("processor : 0\n") != ""


def test_the_longest_mount_point_tells_the_file_system() -> None:
    assert filesystem(Path("/srv/data/bench"), MOUNTS) == "xfs"
    assert filesystem(Path("/srv/other"), MOUNTS) == "ext4"
    assert filesystem(Path("/tmp"), MOUNTS) == "tmpfs"
    assert filesystem(Path("/srv/database"), MOUNTS) == "ext4"


def test_the_facts_name_no_host_and_no_path(tmp_path: Path) -> None:
    facts = machine_facts(tmp_path)
    assert set(facts) == {"cores", "cpu", "python", "sqlite", "kernel", "filesystem"}
    assert not any(str(fact).startswith("/") for fact in facts.values())


def test_the_probe_leaves_nothing_behind(tmp_path: Path) -> None:
    assert fdatasync_per_s(tmp_path) > 0
    assert list(tmp_path.iterdir()) == []


def test_resident_memory_is_the_second_number_in_pages() -> None:
    assert resident_bytes("9000 250 30 1 0 0 0") % 250 == 0
