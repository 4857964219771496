// Markdown that is still being written, cut into blocks: what is above the last one cannot change any more, so it is
// neither parsed nor drawn again.
import MarkdownIt, { type Env, type Token } from 'markdown-it';

// Beyond this, text is shown as it is. A parser's time and a page's size have to be bounded, whatever is sent.
export const kMarkdownCharacters = 200_000;
const kTokens = 12_000;

const kHeadings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
// What is in a message stands below the heading of its conversation.
const kTopLevel = 3;

const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: 40 });

export interface Block {
  // Where it begins in the text, which is also what it is known by.
  at: number;
  source: string;
  tokens: readonly Token[];
  // How many link targets were known when it was read: `[a]` becomes a link when its target comes later.
  targets: number;
}

export interface Blocks {
  blocks: readonly Block[];
  // What is beyond the bounds.
  rest: string;
}

interface Settled {
  // The end of the blocks that cannot change.
  end: number;
  blocks: Block[];
  tokens: number;
  heading: number;
  env: Env;
}

function nothing(): Settled {
  return { end: 0, blocks: [], tokens: 0, heading: kTopLevel - 1, env: {} };
}

export class BlockReader {
  #settled = nothing();
  #text = '';
  #whole = false;
  #last: Blocks = { blocks: [], rest: '' };

  // `finished`: nothing is added any more, so that it is read once as a whole, with targets that came after their links.
  read(raw: string, finished: boolean): Blocks {
    const text = raw.slice(0, kMarkdownCharacters).replace(/\r\n?/g, '\n');
    const beyond = raw.slice(kMarkdownCharacters);
    if (text === this.#text && finished === this.#whole && beyond === this.#last.rest) return this.#last;
    if (finished || !text.startsWith(this.#text.slice(0, this.#settled.end))) this.#settled = nothing();
    this.#text = text;
    this.#whole = finished;
    const { end, env } = this.#settled;
    const tail = text.slice(end);
    const cut = split(parser.parse(tail, env), tail, end, Object.keys(env.references ?? {}).length);
    const blocks = [...this.#settled.blocks];
    let { heading, tokens } = this.#settled;
    let rest = beyond;
    for (const [index, block] of cut.entries()) {
      tokens += weight(block.tokens);
      if (tokens > kTokens) {
        rest = text.slice(block.at) + beyond;
        break;
      }
      heading = levelHeadings(block.tokens, heading);
      blocks.push(block);
      const next = cut[index + 1];
      if (next && !finished) this.#settled = { end: next.at, blocks: [...blocks], tokens, heading, env };
    }
    this.#last = { blocks, rest };
    return this.#last;
  }
}

// Runs of tokens from each one at the top to the one before the next, with the text that they were made of.
function split(tokens: readonly Token[], text: string, from: number, targets: number): Block[] {
  const lines = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  const starts: { at: number; token: number }[] = [];
  tokens.forEach((token, index) => {
    if (token.level === 0 && token.nesting >= 0 && token.map && token.type !== 'inline') {
      starts.push({ at: lines[token.map[0]] ?? text.length, token: index });
    }
  });
  return starts.map(({ at, token }, index) => {
    const next = starts[index + 1];
    return {
      at: from + at,
      source: text.slice(at, next?.at),
      tokens: tokens.slice(token, next?.token),
      targets,
    };
  });
}

function weight(tokens: readonly Token[]): number {
  let sum = tokens.length;
  for (const { children } of tokens) sum += children?.length ?? 0;
  return sum;
}

// Whoever moves by headings finds no level left out, whatever the writer began with.
function levelHeadings(tokens: readonly Token[], before: number): number {
  let heading = before;
  for (const token of tokens) {
    if (token.type !== 'heading_open') continue;
    const wish = kHeadings.indexOf(token.tag) + kTopLevel;
    heading = Math.min(6, wish, heading + 1);
    token.meta = { level: heading };
  }
  return heading;
}
