// Markdown as elements: tokens become nodes, never a string of HTML. What a model wrote is data.
import { createElement, type ComponentChild } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Token } from 'markdown-it';
import { Capped } from './capped';
import { CodeBlock } from './code_block';
import { BlockReader, type Block } from './markdown_blocks';

// While text streams in, this many times as long as reading and drawing it took is left to everything else.
const kBreather = 4;

const kElements: Record<string, string> = {
  paragraph_open: 'p',
  bullet_list_open: 'ul',
  list_item_open: 'li',
  blockquote_open: 'blockquote',
  table_open: 'table',
  thead_open: 'thead',
  tbody_open: 'tbody',
  tr_open: 'tr',
  em_open: 'em',
  strong_open: 'strong',
  s_open: 's',
};

// A link goes where a person can see that it goes, and only over these.
function safeTarget(href: string | number | null): string | null {
  try {
    const url = new URL(String(href));
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function Link({ href, children }: { href: string | number | null; children: ComponentChild }) {
  const target = safeTarget(href);
  if (target === null) return <span title={String(href ?? '')}>{children}</span>;
  return (
    <a href={target} title={target} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function element(token: Token, children: ComponentChild[], key: number): ComponentChild {
  const tag = Object.hasOwn(kElements, token.type) ? kElements[token.type] : undefined;
  if (token.type === 'paragraph_open' && token.hidden) return children;
  if (token.type === 'table_open') {
    return (
      <div key={key} class="table-box" tabIndex={0}>
        <table>{children}</table>
      </div>
    );
  }
  if (tag) return createElement(tag, { key }, children);
  switch (token.type) {
    case 'heading_open':
      return createElement(`h${token.meta?.['level'] ?? 6}`, { key, class: `like-${token.tag}` }, children);
    case 'ordered_list_open': {
      const start = Number(token.attrGet('start') ?? 1);
      return (
        <ol key={key} start={start}>
          {children}
        </ol>
      );
    }
    case 'th_open':
    case 'td_open': {
      const align = /text-align:\s*(left|center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1];
      return createElement(token.tag === 'th' ? 'th' : 'td', { key, ...(align && { style: { textAlign: align } }) }, children);
    }
    case 'link_open':
      return (
        <Link key={key} href={token.attrGet('href')}>
          {children}
        </Link>
      );
    default:
      return children;
  }
}

function leaf(token: Token, key: number): ComponentChild {
  switch (token.type) {
    case 'inline':
      return nodes(token.children ?? []);
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return <br key={key} />;
    case 'hr':
      return <hr key={key} />;
    case 'code_inline':
      return <code key={key}>{token.content}</code>;
    case 'fence':
      return <CodeBlock key={key} text={token.content} language={token.info.trim().split(/\s+/)[0] ?? ''} />;
    case 'code_block':
      return <CodeBlock key={key} text={token.content} language="" />;
    case 'image': {
      // Never fetched: an address says already that somebody looked.
      const href = token.attrGet('src');
      return (
        <Link key={key} href={href}>
          {token.content || String(href ?? '')}
        </Link>
      );
    }
    default:
      return token.content;
  }
}

function nodes(tokens: readonly Token[]): ComponentChild[] {
  const open: { token: Token; children: ComponentChild[] }[] = [];
  const top: ComponentChild[] = [];
  const into = () => open.at(-1)?.children ?? top;
  tokens.forEach((token, index) => {
    if (token.nesting === 1) {
      open.push({ token, children: [] });
    } else if (token.nesting === -1) {
      const closed = open.pop();
      if (closed) into().push(element(closed.token, closed.children, index));
    } else {
      into().push(leaf(token, index));
    }
  });
  for (const left of open.reverse()) top.push(...left.children);
  return top;
}

function BlockView({ block }: { block: Block }) {
  // Drawn again only when its own text did, or when a link may have found its target.
  return useMemo(() => <>{nodes(block.tokens)}</>, [block.source, block.targets]);
}

// `finished`: no more of it comes.
export function Markdown({ text, finished = true }: { text: string; finished?: boolean }) {
  const reader = useRef<BlockReader | null>(null);
  reader.current ??= new BlockReader();
  const shown = useRef({ text: '', finished: false, began: 0, until: 0 });
  const [, again] = useState(0);
  const wait = shown.current.until - performance.now();
  const late = !finished && wait > 0;
  if (!late) shown.current = { text, finished, began: performance.now(), until: 0 };
  // By now it is read and drawn.
  useLayoutEffect(() => {
    const { began, until } = shown.current;
    if (until === 0) shown.current.until = performance.now() + (performance.now() - began) * kBreather;
  });
  useEffect(() => {
    if (!late) return;
    const timer = setTimeout(() => again((n) => n + 1), wait);
    return () => clearTimeout(timer);
  });
  const { blocks, rest } = reader.current.read(shown.current.text, shown.current.finished);
  return (
    <div class="markdown" dir="auto">
      {blocks.map((block) => (
        <BlockView key={block.at} block={block} />
      ))}
      {rest !== '' && <Capped text={rest} />}
    </div>
  );
}
