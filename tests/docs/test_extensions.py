"""The extensions of the site: code blocks, links to the repository, formulas."""

import pytest

from mathml import render
from repository_links import LINK, replace
from snippets import BlockError, Workplace, blocks

PAGE = """\
# Title

```{note}
Text, no code.
```

<!-- file: data/x.tsv -->
```text
a	b	c
```

<!-- run: echo hidden > y.txt -->

```sh
cat data/x.tsv \\
    y.txt
```

  ```python
  x = 1
  print(x + 1)
  ```

<!-- not run: needs a network -->
```sh
curl example.org
```

<!-- exit: 3 -->
```sh
exit 3
```
"""


def run(text, tmp_path):
    (tmp_path / "run").mkdir()
    with Workplace(tmp_path / "place", "page", tmp_path / "run") as place:
        return [place.run(block) for block in blocks(text)]


def test_blocks_run_in_order_with_their_marks(tmp_path):
    found = [(b.language, b.mark, b.runs) for b in blocks(PAGE)]
    assert found == [
        ("{note}", None, False),
        ("text", "file", False),
        ("sh", "hidden", True),
        ("sh", None, True),
        ("python", None, True),
        ("sh", "not run", False),
        ("sh", "exit", True),
    ]
    assert run(PAGE, tmp_path) == ["", "", "", "a\tb\tc\nhidden\n", "2\n", "", ""]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("```python\nprint(1)\n1 / 0\n```", "page:2: ZeroDivisionError"),
        ("```sh\nfalse\n```", "`false` exited with 1"),
        ("<!-- exit: 2 -->\n```sh\ntrue\n```", "`true` exited with 0"),
        ("```sh\nkgflow predict nowhere\n```", "exited with 2"),
    ],
)
def test_a_block_that_fails_names_the_page_and_the_reason(code, message, tmp_path):
    with pytest.raises(BlockError, match=message):
        run(code, tmp_path)


@pytest.mark.parametrize(
    ("link", "on_the_site"),
    [
        ("[a](../../README.md)", "[a](../index.md)"),
        ("[a](../../examples/custom_model.py)", "[a](../gallery/custom_model.rst)"),
        ("[a](../../examples/demo.py)", "a"),
        ("[a](../../reproduce/study.py#L1)", "a"),
        ("[a](../results/nothing.md)", "a"),
        ("[a](../training.md#losses)", "[a](../training.md#losses)"),
    ],
)
def test_links_to_the_repository_hold_on_the_site(link, on_the_site):
    assert LINK.sub(lambda found: replace(found, "how-to"), link) == on_the_site


def test_formulas_become_mathml():
    found = render(r"\Big(\frac1N \sum_i x_i\Big)", block=True)
    assert found.startswith("<math")
    assert "<mfrac>" in found
    assert "Big" not in found
