// Text that somebody else wrote, within Markdown: no line of it is one of the document's own.
#pragma once

#include <string>
#include <string_view>

namespace watchbill::history {

// On one line, with what Markdown would take for its own escaped.
void AppendInline(std::string& out, std::string_view text);

// Whether a quotation holds it whatever reads it: outside of code that certainly is code there is nothing
// that could be HTML, which a quotation does not end, and no definition of a link, which holds for the whole
// document.
bool QuotationHolds(std::string_view text);

// As a quotation of Markdown where that holds it, else as it is between fences; each line behind `indent`.
void AppendBlock(std::string& out, std::string_view indent, std::string_view text);

// As it is between fences that are longer than any run of backticks within; each line behind `indent`.
void AppendFenced(std::string& out, std::string_view indent, std::string_view kind, std::string_view text);

// What changed, as lines with - and + before them and three lines around; the same lines at both ends are
// left out.
std::string ChangedLines(std::string_view before, std::string_view after);

}  // namespace watchbill::history
