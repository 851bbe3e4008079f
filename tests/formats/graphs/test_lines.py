"""Lines: the lines of a text that contain edges, and their numbers."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopvec import FormatError
from hopvec.formats.graphs import lines as module
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.lines import Block, Lines, parse_ahead

texts = st.lists(
    st.tuples(
        st.sampled_from(["a,b", "long-id,another", "", "   ", "\t", "# a, b", "%", "é,中", " x,y"]),
        st.sampled_from(["\n", "\n", "\r\n", "\r"]),
    ),
    max_size=30,
).map(lambda parts: "".join(map("".join, parts)))


def slowly(text, skip):
    """(number, line) of the lines that contain edges, by a simple implementation."""
    found = enumerate(re.split("\r\n|\r|\n", text), 1)
    return [
        (number, line)
        for number, line in found
        if number > skip and line.strip() and not line.startswith(("#", "%"))
    ]


def read(path, **options):
    lines, found = Lines(InputFile(path), comments=(b"#", b"%"), **options), []
    for block in lines:
        rows = block.data.decode().split("\n")
        assert rows.pop() == ""
        assert block.count == len(rows)
        found += [(lines.number(block.edge + at), row) for at, row in enumerate(rows)]
    return found


@given(texts, st.booleans(), st.integers(0, 3), st.integers(1, 9) | st.just(1 << 20))
def test_lines_and_numbers_match_a_simple_implementation(
    tmp_path_factory, text, marked, skip, block
):
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes((("\ufeff" if marked else "") + text).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", block)
        assert read(path, skip=skip) == slowly(text, skip)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
def test_every_kind_of_line_end_across_blocks(tmp_path, end, last):
    text = end.join(f"{number},{number * 7919}" for number in range(150_000)) + (last and end)
    (tmp_path / "text").write_bytes(text.encode())
    found = read(tmp_path / "text")
    assert found[:: 149_999 // 7] == slowly(text, 0)[:: 149_999 // 7]
    assert len(found) == 150_000


def test_line_numbers_after_many_blocks_of_comments(tmp_path):
    text = "a,b\n" + "# much to say\n" * 200_000 + "\n" * 100_000 + "c,d\n"
    (tmp_path / "text").write_text(text)
    assert read(tmp_path / "text") == [(1, "a,b"), (300_002, "c,d")]


def test_a_line_of_more_than_a_megabyte_is_refused_with_its_number(tmp_path):
    (tmp_path / "text").write_bytes(b"a,b\n" * 1000 + b"x" * 3_000_000)
    with pytest.raises(FormatError, match=r"line 1,001: the line is longer than 1,048,576 bytes"):
        read(tmp_path / "text")


@pytest.mark.parametrize("before", ["a,b\n" * 100, "a,b\r" * 100, "a,b\n" * 600_000])
def test_a_null_byte_is_refused_with_its_line(tmp_path, before):
    (tmp_path / "text").write_bytes(before.encode() + b"c,\0d\n")
    expected = f"line {len(before) // 4 + 1:,}: a null byte"
    with pytest.raises(FormatError, match=re.escape(expected)):
        read(tmp_path / "text")


@pytest.mark.parametrize("from_pipe", [False, True])
class TestParsedAhead:
    def test_blocks_are_parsed_in_order(self, from_pipe):
        found = parse_ahead(lambda block: block * 2, range(20), from_pipe=from_pipe)
        assert list(found) == list(range(0, 40, 2))

    def test_the_first_of_several_errors_is_raised(self, from_pipe):
        def parse(block):
            if block >= 3:
                raise FormatError(f"block {block}")
            return block

        with pytest.raises(FormatError, match="block 3"):
            list(parse_ahead(parse, range(20), from_pipe=from_pipe))

    def test_an_error_in_a_block_is_raised_before_one_in_reading_a_later_block(self, from_pipe):
        def blocks():
            yield 1
            raise FormatError("cannot be read")

        def parse(block):
            raise FormatError(f"block {block}")

        with pytest.raises(FormatError, match="block 1"):
            list(parse_ahead(parse, blocks(), from_pipe=from_pipe))
        with pytest.raises(FormatError, match="cannot be read"):
            list(parse_ahead(lambda block: block, blocks(), from_pipe=from_pipe))


def test_a_line_number_is_found_while_a_thread_reads_on(tmp_path):
    class Late(Block):
        def __getattribute__(self, name):
            if name == "edge":
                lines._recent.append(self)  # as the thread does
            return super().__getattribute__(name)

    (tmp_path / "edges").write_text("a b\n")
    with InputFile(tmp_path / "edges") as file:
        lines = Lines(file)
        late, first = Late(b"", 1, 9, 10, ()), Block(b"", 1, 0, 1, ())
        lines._recent.extend([first, late])
        assert lines.number(0) == 1


def test_an_abandoned_reader_does_not_wait_for_its_thread():
    busy, go_on = threading.Event(), threading.Event()

    def parse(number):
        if number:
            busy.set()
            go_on.wait(60)
        return number

    parsed = parse_ahead(parse, [0, 1, 2])
    assert next(parsed) == 0
    assert busy.wait(60)
    closing = threading.Thread(target=parsed.close)
    closing.start()
    closing.join(10)
    waits = closing.is_alive()
    go_on.set()
    closing.join()
    assert not waits
