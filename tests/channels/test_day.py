"""A day of a bot: a group, a direct chat, a topic, edits, replies, a fork, a stop, a restart, a terminal."""

from __future__ import annotations

from bough import Node
from bough.model.tree import Tree
from tests.channels.conftest import Talk, until

GROUP, ANN, BOB = -5, 7, 8


def drawn(tree: Tree[Node], depth: int = 0) -> str:
    """A tree as text, one message a line, without the part of an answer that was cut off beside the whole one."""
    line = f"{'  ' * depth}{tree.node.role[0]} {tree.node.message.text}\n"
    texts = [below.node.message.text for below in tree.children]
    whole = [below for below in tree.children if not any(is_part(below.node.message.text, text) for text in texts)]
    return line + "".join(drawn(below, depth + 1) for below in whole)


def is_part(text: str, other: str) -> bool:
    return text != other and other.startswith(text)


def test_a_day_in_the_life(talk: Talk) -> None:
    telegram = talk.telegram
    talk.configure(f'allow = ["{ANN}", "{BOB}", "{GROUP}"]')
    with talk.running():
        telegram.say("@bough_bot which tree?", chat=GROUP, sender=ANN)
        talk.answered(1, GROUP)
        first = telegram.sent(GROUP)[0]["message_id"]
        telegram.say("Lovely weather", chat=GROUP, sender=BOB, name="Bob")
        telegram.say("an oak?", chat=GROUP, sender=BOB, name="Bob", reply_to=first)
        talk.answered(2, GROUP)
        telegram.say("@bough_bot in the topic", chat=GROUP, sender=ANN, topic=31)
        talk.answered(3, GROUP)
        telegram.say("or an elm?", chat=GROUP, sender=ANN, reply_to=first)
        talk.answered(5, GROUP)
        typo = telegram.say("helo")
        talk.answered(1)
        telegram.reword(typo, "hello")
        talk.answered(2)
        telegram.say("/fork")
        forked = talk.answered(3)[2].split("--session ")[1]
        talk.model.pause = 0.2
        telegram.say("SAY one two three four five six seven eight nine")
        until(lambda: any("one two" in text for text in telegram.texts()))
        telegram.say("/stop")
        talk.answered(5)
        telegram.say("a long one two three four")
        until(lambda: any("echo of a" in text for text in telegram.texts()))
    talk.model.pause = 0.0
    with talk.running():
        assert talk.answered(6)[5] == "echo of a long one two three four"
        talk.store.session("telegram:7").save_turn(["from a terminal", "noted"])
        telegram.say("and here")
        assert "from a terminal" in talk.answered(8)[6]
    stopped = talk.dialog()[3]
    assert stopped.startswith("one two")
    assert talk.dialog(forked) == ["hello", "echo of hello"]
    trees = "".join(sorted(drawn(tree) for tree in talk.store.forest()))
    assert trees.replace(f"a {stopped}", "a STOPPED") == DAY


DAY = """\
u Ann: in the topic
  a echo of Ann: in the topic
u Ann: which tree?
  a echo of Ann: which tree?
    u Bob: an oak?
      a echo of Bob: an oak?
    u Ann: or an elm?
      a echo of Ann: or an elm?
u hello
  a echo of hello
    u SAY one two three four five six seven eight nine
      a STOPPED
        u a long one two three four
          a echo of a long one two three four
            u from a terminal
              a noted
                u and here
                  a echo of and here
u helo
  a echo of helo
"""
