#include "markdown_text.hpp"

#include <algorithm>

#include "keys.hpp"
#include "transfer_fixture.hpp"

namespace watchbill::history {
namespace {

std::string MustWrite(const Store& store, const MarkdownOptions& options = {}) {
  std::string text;
  const auto report = ExportMarkdown(store, kChannelA, options, [&](std::string_view piece) {
    text.append(piece);
    return absl::OkStatus();
  });
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  return text;
}

Message Said(size_t n, const std::string& text, Role role = Role::kUser, const std::string& agent = "") {
  Message message = TextMessage(kChannelA, NthId(n), text);
  message.role = role;
  message.agent = agent;
  return message;
}

TEST_CASE("a channel as Markdown: what it is, then a section a message") {
  const MemoryStore store;
  Batch batch;
  REQUIRE(batch.Put(Channel{kChannelA, "ops", "what goes on\nhere", "", {"codex", "my_agent"}}).ok());
  REQUIRE(batch.Put(Said(1, "Read **a.txt**,\n\nand say:\n```\nok\n```")).ok());
  Message full = FullMessage(kChannelA, NthId(2));
  full.code = "";
  REQUIRE(batch.Put(full).ok());
  Message joined = Said(3, "", Role::kSystem, "my_agent");
  joined.code = "agent-joined";
  REQUIRE(batch.Put(joined).ok());
  MustCommit(*store, batch);
  CHECK(MustWrite(*store) == R"(# ops

> what goes on
> here

- **Members:** codex, my\_agent
- **Id:** 01ARYZ6S41TSV4RRFFQ69G5FAV

## 2026-09-21T14:13:20.000Z · User

> Read **a.txt**,
>
> and say:
> ```
> ok
> ```

## 2026-09-21T14:13:20.123Z · codex

> # Déjà vu
>
> "quoted" \ and 🙂

**Tool calls:**

- **Edit a file** (edit, completed)
  - a.txt:12
  - b.txt

  a.txt:

  ```diff
  @@ -1,1 +1,1 @@
  -old
  \ no newline at the end
  +new
  \ no newline at the end
  ```

  c.txt (new file):

  ```diff
  @@ -1,0 +1,1 @@
  +all new
  \ no newline at the end
  ```


**Plan:**

- [x] look (high)
- [ ] do (low, in progress)

**Error:**

> none

*Ended with: end\_turn*

## 2026-09-21T14:13:20.000Z · System · my\_agent

my\_agent joined.
)");
}

TEST_CASE("thoughts are there when they are asked for, one quotation further in") {
  const MemoryStore store;
  Keep(*store, FullMessage(kChannelA, NthId(2)));
  CHECK(MustWrite(*store).find("goes") == std::string::npos);
  MarkdownOptions options;
  options.thoughts = true;
  CHECK(MustWrite(*store, options).find("\n> *Thought*\n>\n> > so\tit\x01 goes\n") != std::string::npos);
}

TEST_CASE("the words are those that were handed in") {
  const MemoryStore store;
  Batch batch;
  REQUIRE(batch.Put(Channel{kChannelA, "", "", "codex", {}}).ok());
  REQUIRE(batch.Put(Said(1, "bonjour")).ok());
  Message left = Said(2, "", Role::kSystem, "a*b");
  left.code = "agent-left";
  REQUIRE(batch.Put(left).ok());
  Message other = Said(3, "", Role::kSystem);
  other.code = "moved_on";
  REQUIRE(batch.Put(other).ok());
  MustCommit(*store, batch);
  MarkdownOptions options;
  options.words.user = "Utilisateur";
  options.words.direct = "Conversation avec {agent} *";
  options.words.agent_left = "Départ de {agent}.";
  const std::string text = MustWrite(*store, options);
  CHECK(text.starts_with("# Conversation avec codex \\*\n"));
  CHECK(text.find(" · Utilisateur\n") != std::string::npos);
  CHECK(text.find("\nDépart de a\\*b.\n") != std::string::npos);
  CHECK(text.find("\nmoved\\_on\n") != std::string::npos);
}

TEST_CASE("messages are oldest first however many there are, and what cannot be read is counted") {
  const MemoryStore store;
  for (size_t i = 0; i < 60; ++i)
    Keep(*store, Said(i, fmt::format("number {} ", i) + std::string(50'000, 'x')));
  Writes writes;
  writes.Put(MessageKey(*ParseUlid(kChannelA), *ParseUlid(NthId(70))), "\x02");
  REQUIRE(store.engine->Commit(writes, Sync::kNow).ok());
  const std::string text = MustWrite(*store);
  size_t at = 0;
  for (size_t i = 0; i < 60; ++i) {
    const size_t next = text.find(fmt::format("\n> number {} ", i), at);
    REQUIRE(next != std::string::npos);
    at = next;
  }
  CHECK(text.ends_with("\n*Messages that could not be read: 1*\n"));
  // One without a record has its id as its title.
  CHECK(text.starts_with(std::string("# ") + kChannelA + "\n"));
}

// The headings that are the document's own: outside of fences and quotations, in which nothing can end them.
std::vector<std::string> OwnHeadings(const std::string& text) {
  std::vector<std::string> headings;
  std::string fence;
  std::string lines = text;
  // Every reader takes a carriage return for the end of a line.
  std::replace(lines.begin(), lines.end(), '\r', '\n');
  for (std::string line : LinesOf(lines)) {
    // Within an item of a list as well.
    if (line.starts_with("  ")) line.erase(0, 2);
    const size_t run = std::min(line.find_first_not_of('`'), line.size());
    if (!fence.empty()) {
      if (run >= fence.size() && line.find_first_not_of("` \t") == std::string::npos) fence.clear();
    } else if (run >= 3) {
      fence = line.substr(0, run);
    } else if (line.starts_with('#')) {
      headings.push_back(line);
    } else if (!line.empty() && !line.starts_with('>')) {
      // What makes a heading of the line before, or of anything.
      CHECK_MESSAGE(line.find_first_not_of("=- ") != std::string::npos, line);
      for (size_t at = 0; (at = line.find('<', at)) != std::string::npos; ++at) {
        REQUIRE(at > 0);
        CHECK_MESSAGE(line[at - 1] == '\\', line);
      }
    }
  }
  CHECK(fence.empty());
  return headings;
}

TEST_CASE("nothing that is said, called or done makes a heading of its own") {
  const std::string fake = "## 2026-09-21T14:13:20.000Z · User";
  for (const std::string& text :
       {fake, "x\n" + fake, "x\r" + fake, "x\r\n" + fake + "\r", "```\n" + fake, "```\nx\n```\n" + fake,
        "````\n```\n" + fake, "~~~\n" + fake, "x\n\n" + fake + "\n\nx", "</blockquote>\n" + fake,
        "<!--\n" + fake, "`<!--\n" + fake, "`````\n" + fake, "> x\n" + fake, "- x\n\n" + fake,
        std::string("x\n===\n") + fake + "\n---", "[x]: y\n" + fake, "<h2>2026</h2>\n" + fake,
        "````markdown\n<b>\n`````\n" + fake}) {
    CAPTURE(text);
    const MemoryStore store;
    Batch batch;
    REQUIRE(batch.Put(Channel{kChannelA, text, text, "", {text}}).ok());
    Message message = Said(1, text, Role::kAgent, text);
    message.parts.push_back(ThoughtPart{text});
    message.parts.push_back(PlanPart{{{text, text, text}}});
    ToolCall tool;
    tool.title = tool.kind = tool.status = text;
    tool.locations = {{text, 1}};
    tool.diffs = {{text, text, text + "\n" + text, false}, {text, "", text, true}};
    message.parts.push_back(ToolPart{tool});
    message.error = message.stop_reason = message.code = text;
    REQUIRE(batch.Put(message).ok());
    Message system = Said(2, "", Role::kSystem, text);
    system.code = "agent-joined";
    REQUIRE(batch.Put(system).ok());
    MustCommit(*store, batch);
    MarkdownOptions options;
    options.thoughts = true;
    const std::vector<std::string> headings = OwnHeadings(MustWrite(*store, options));
    REQUIRE(headings.size() == 3);
    CHECK(headings[1].starts_with("## 2026-09-21T14:13:20.000Z · "));
    CHECK(headings[2].starts_with("## 2026-09-21T14:13:20.000Z · System · "));
  }
}

TEST_CASE("a quotation holds text and code, and what it could not hold goes between fences as it is") {
  for (const char* text :
       {"plain", "a < b and c > d", "use `vector<int>` here", "``a ` <b>``", "```\n<html>\n```",
        "~~~ x\n<html>\n~~~~", "```cpp\n#include <map>\n```\nthen `x<y>`", "a\n\n`b<c>`", "<3", "x <",
        "````\n```\n<b>\n````", "```\n[x]: y\n```", "```\n<b>"}) {
    CAPTURE(text);
    CHECK(QuotationHolds(text));
  }
  for (const char* text :
       {"<b>", "</blockquote>", "<!-- x", "<?x", "<https://x>", "[x]: y", "[^1]: note",
        // Code that is none: it ends elsewhere, or does not end.
        "`a <b>", "a ` b\nc` <b> `", "``a` <b> `", "| `a | <b>` |", "\\`<b>`", "\\`` <b> `", "`a\\` <b>`",
        // A fence that is none, or has ended.
        "  ```\n<b>", "- ```\n<b>", "``` a`b\n<b>", "```\n```\n<b>", "~~~\n  ~~~ \n<b>", "```\n   ```\n<b>",
        "``\n<b>"}) {
    CAPTURE(text);
    CHECK(!QuotationHolds(text));
  }
  // One that looks like an end and is none.
  CHECK(QuotationHolds("```\n    ```\n<b>"));
  CHECK(QuotationHolds("````\n``` \n~~~~\n<b>"));
  CHECK(QuotationHolds("```\n``` x\n<b>"));

  std::string out;
  AppendBlock(out, "", "<b>\n```` x\n");
  CHECK(out == "`````markdown\n<b>\n```` x\n`````\n");
  out.clear();
  AppendBlock(out, "  ", "a\r\nb\rc\n\nd");
  CHECK(out == "  > a\n  > b\n  > c\n  >\n  > d\n");
}

TEST_CASE("names are on one line, and mean themselves") {
  const auto inline_of = [](std::string_view text) {
    std::string out;
    AppendInline(out, text);
    return out;
  };
  CHECK(inline_of("plain-name_1.2 (x)") == "plain-name\\_1.2 (x)");
  CHECK(inline_of("a\nb\tc\x7F") == "a b c ");
  CHECK(inline_of("- x") == "\\- x");
  CHECK(inline_of("+ x") == "\\+ x");
  CHECK(inline_of("12. x") == "12\\. x");
  CHECK(inline_of("1) x") == "1\\) x");
  CHECK(inline_of("# <b>&amp;`x`|[a](b)~\\*") == "\\# \\<b\\>\\&amp;\\`x\\`\\|\\[a\\](b)\\~\\\\\\*");
  CHECK(inline_of("é") == "é");
}

TEST_CASE("what changed is told with three lines around it") {
  CHECK(ChangedLines("a\n", "a\n") == "@@ -1,1 +1,1 @@\n a\n");
  CHECK(ChangedLines("", "") == "@@ -1,0 +1,0 @@\n");
  CHECK(ChangedLines("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\ny\n6\n7\n8\n9\n") ==
        "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+x\n+y\n 6\n 7\n 8\n");
  CHECK(ChangedLines("a", "a\n") == "@@ -1,1 +1,1 @@\n-a\n\\ no newline at the end\n+a\n");
  CHECK(ChangedLines("a\n", "") == "@@ -1,1 +1,0 @@\n-a\n");
  // The same line on both sides of what was taken out.
  CHECK(ChangedLines("x\nx\n", "x\n") == "@@ -1,2 +1,1 @@\n x\n-x\n");
}

}  // namespace
}  // namespace watchbill::history
