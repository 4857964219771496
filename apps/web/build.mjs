// Bundles the pages and writes what the programs embed.
//
//   node build.mjs OUT           OUT/site/PAGE/*     the files as they are served (for a program's dev mode)
//                                OUT/z/*             the same files, raw, gzip and brotli
//                                OUT/assets_PAGE.S   pulls the page's OUT/z/* in with .incbin, by names relative to OUT
//                                OUT/assets_PAGE.cc  the page's table, as assets.hpp promises it
//   node build.mjs OUT --watch   OUT/site only, again after every change
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync, watch } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, 'out'));
const watching = process.argv.includes('--watch');
// Their names are in cmake/WebAssets.cmake as well.
const pages = [
  { name: 'monitor', accessor: 'MonitorAssets' },
  { name: 'supervisor', accessor: 'SupervisorAssets' },
];
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
};

function notices(metafile) {
  const packages = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
  const parts = [...packages].sort().map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    if (!file) throw new Error(`${name} is bundled, and brings no licence text`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `This page contains the following packages.\n\n${parts.join(`\n${'-'.repeat(78)}\n\n`)}`;
}

async function bundle(page) {
  const source = join(here, 'src', page.name);
  const result = await build({
    absWorkingDir: here,
    entryPoints: { [page.name]: join(source, 'main.tsx'), [`${page.name}-style`]: join(source, 'style.css') },
    outdir: join(out, 'site', page.name),
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: !watching,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const files = new Map();
  let html = readFileSync(join(source, 'index.html'), 'utf8');
  for (const { path, contents } of result.outputFiles) {
    const name = path.slice(join(out, 'site', page.name).length + 1);
    files.set(name, { bytes: Buffer.from(contents), immutable: true });
    html = html.replaceAll(`./${name.replace(/-[A-Z0-9]{8}\./, '.')}"`, `./${name}"`);
  }
  files.set('index.html', { bytes: Buffer.from(html), immutable: false });
  files.set('third-party-notices.txt', { bytes: Buffer.from(notices(result.metafile)), immutable: false });
  const folder = join(out, 'site', page.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, { bytes }] of files) writeFileSync(join(folder, name), bytes);
  return files;
}

function compressed(bytes) {
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const gzip = gzipSync(bytes, { level: 9 });
  const brotli = brotliCompressSync(bytes, { params: quality });
  return { raw: bytes, gzip: gzip.length < bytes.length ? gzip : null, brotli: brotli.length < bytes.length ? brotli : null };
}

// Each page in objects of its own: a linker takes from a library only what is asked for.
function embed(bundles) {
  rmSync(join(out, 'z'), { recursive: true, force: true });
  mkdirSync(join(out, 'z'));
  for (const { page, files } of bundles) {
    const assembly = ['  .section .rodata'];
    const symbols = [];
    const rows = [];
    const served = [...files].map(([name, file]) => ({ ...file, name, path: name === 'index.html' ? '/' : `/${name}` }));
    served.sort((a, b) => (a.path < b.path ? -1 : 1));
    served.forEach(({ name, path, bytes, immutable }, index) => {
      const etag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
      const views = Object.entries(compressed(bytes)).map(([encoding, content]) => {
        if (!content) return '{}';
        const symbol = `watchbill_web_${page.name}_${index}_${encoding}`;
        const file = `z/${page.name}_${index}.${encoding}`;
        writeFileSync(join(out, file), content);
        assembly.push('  .balign 16', `  .global ${symbol}`, `${symbol}: .incbin "${file}"`);
        symbols.push(`extern const char ${symbol}[];`);
        return `{${symbol}, ${content.length}}`;
      });
      rows.push(`    {"${path}", "${types[extname(name)]}", "${etag}", ${immutable},\n     ${views.join(', ')}},`);
    });
    assembly.push('  .section .note.GNU-stack,"",%progbits', '');
    writeFileSync(join(out, `assets_${page.name}.S`), assembly.join('\n'));
    writeFileSync(join(out, `assets_${page.name}.cc`), [
      '// Generated by apps/web/build.mjs.', '#include "apps/web/assets.hpp"', '',
      'extern "C" {', ...symbols, '}', '',
      'namespace watchbill::web {', '',
      `std::span<const Asset> ${page.accessor}() {`,
      '  static constexpr Asset kAssets[] = {', ...rows, '  };',
      '  return kAssets;', '}', '',
      '}  // namespace watchbill::web', '',
    ].join('\n'));
  }
}

const run = async () => {
  const bundles = [];
  for (const page of pages) bundles.push({ page, files: await bundle(page) });
  return bundles;
};

if (watching) {
  const again = () => run().then(() => console.log('built'), (error) => console.error(error.message));
  await again();
  let timer;
  for (const folder of ['shared', ...pages.map(({ name }) => name)]) {
    if (!existsSync(join(here, 'src', folder))) continue;
    watch(join(here, 'src', folder), () => { clearTimeout(timer); timer = setTimeout(again, 100); });
  }
} else {
  embed(await run());
}
