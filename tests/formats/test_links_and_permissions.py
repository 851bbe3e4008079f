"""Writing through symbolic links, permissions of replaced files, and names that are too long."""

import os
import stat
from pathlib import Path

import pytest

import hopvec
from hopvec import FormatError
from hopvec.formats import atomic
from hopvec.formats.destination import check_writable
from saved_embeddings import SUFFIXES, random_embedding, same_embedding

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows restricts links and has no modes")


@pytest.fixture(params=SUFFIXES)
def suffix(request):
    return request.param


def linked(tmp_path, suffix):
    """A link in one directory to a file in another."""
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / f"target{suffix}", tmp_path / f"link{suffix}"
    link.symlink_to(Path("store", target.name))
    return link, target


@pytest.mark.parametrize("exists", [True, False])
def test_a_file_is_written_to_where_a_link_points(tmp_path, suffix, exists):
    link, target = linked(tmp_path, suffix)
    if exists:
        random_embedding(seed=1).save(target)
    check_writable(link)
    random_embedding(seed=2).save(link)
    assert link.is_symlink()
    assert not target.is_symlink()
    for path in (link, target):
        assert same_embedding(hopvec.load(path), random_embedding(seed=2), path)
    assert [path.name for path in tmp_path.iterdir()].count(link.name) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [link.name, "store"]


def test_a_chain_of_links_is_followed(tmp_path):
    link, target = linked(tmp_path, ".parquet")
    (tmp_path / "first.parquet").symlink_to(link)
    random_embedding().save(tmp_path / "first.parquet")
    assert target.is_file()
    assert link.is_symlink()


def test_ids_that_a_link_has_beside_it_stay_there(tmp_path):
    link, target = linked(tmp_path, ".npy")
    (tmp_path / "blob").write_bytes(b"")
    (tmp_path / "link.ids.arrow").symlink_to("blob")
    random_embedding().save(link)
    assert same_embedding(hopvec.load(link), random_embedding(), link)
    assert (tmp_path / "blob").stat().st_size
    assert not target.with_suffix(".ids.arrow").exists()


def test_links_that_lead_back_to_themselves_are_refused(tmp_path):
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    one.symlink_to(other)
    other.symlink_to(one)
    for write in (check_writable, random_embedding().save):
        with pytest.raises(FormatError, match=r"one.parquet: cannot be written \(.*symbolic links"):
            write(one)
    assert one.is_symlink()


def test_a_link_into_a_missing_directory_is_refused(tmp_path):
    link = tmp_path / "link.parquet"
    link.symlink_to(tmp_path / "absent" / "target.parquet")
    for write in (check_writable, random_embedding().save):
        with pytest.raises(FormatError, match="absent does not exist"):
            write(link)


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o640])
def test_a_replaced_file_keeps_its_permissions(tmp_path, suffix, mode):
    path = tmp_path / f"vectors{suffix}"
    path.write_bytes(b"old")
    path.chmod(mode)
    random_embedding().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_that_the_process_gives(tmp_path):
    before = os.umask(0o027)
    try:
        random_embedding().save(tmp_path / "vectors.parquet")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "vectors.parquet").stat().st_mode) == 0o640


def test_a_private_file_is_never_readable_by_others_while_it_is_replaced(tmp_path):
    path = tmp_path / "vectors.parquet"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic.atomic_write(path) as (file,):
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may change owners")
def test_a_replaced_file_keeps_its_owner_if_that_is_allowed(tmp_path):
    path = tmp_path / "vectors.parquet"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    random_embedding().save(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_an_owner_that_may_not_be_set_is_no_error(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    path = tmp_path / "vectors.parquet"
    for seed in (1, 2):
        random_embedding(seed=seed).save(path)
    assert same_embedding(hopvec.load(path), random_embedding(seed=2), path)


def test_a_name_of_the_longest_length_can_be_written(tmp_path, suffix):
    ids = len(".ids.arrow") - len(suffix) if suffix == ".npy" else 0
    path = tmp_path / ("é" * ((255 - len(suffix) - ids) // 2) + suffix)
    for seed in (1, 2):
        random_embedding(seed=seed).save(path)
    assert same_embedding(hopvec.load(path), random_embedding(seed=2), path)
    assert len(list(tmp_path.iterdir())) == 1 + (suffix == ".npy")


def test_a_name_that_is_too_long_is_refused_before_the_run(tmp_path):
    path = tmp_path / ("n" * 255 + ".parquet")
    for write in (check_writable, random_embedding().save):
        with pytest.raises(FormatError, match=r"cannot be written \(File name too long\)"):
            write(path)
