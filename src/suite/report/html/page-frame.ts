import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { bundleScript } from './bundle.ts';
import { escapeHtml } from './embed.ts';
import { style } from './style/style.ts';

// The data stands after the script, which is a module and so runs when all of it is read. A page that ends
// early, since its run was aborted, can be viewed, too.

export const blockStart = '<script type="text/plain" data-block>\n';
export const blockEnd = '</script>\n';
export const pageEnd = '</body>\n</html>\n';

/** Everything before the data. Throws when a file of this package is missing. */
export function pageStart(suite: string): string {
  const page = readScript(new URL('./page/main.js', import.meta.url));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf([page, diffScript()], style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(suite)}: eval report</title>
<style>${style}</style>
</head>
<body>
<div id="page"><noscript>This report shows itself with JavaScript, which is switched off here.</noscript></div>
<script>${diffScript()}</script>
<script type="module">${page}</script>
`;
}

/**
 * The content security policy: only these scripts and styles, nothing is loaded, text cannot become markup.
 */
function policyOf(scripts: readonly string[], styleText: string): string {
  const rules = [
    "default-src 'none'",
    `script-src ${scripts.map(hashOf).join(' ')}`,
    `style-src ${hashOf(styleText)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return rules.join('; ');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const scripts = new Map<string, string>();

function readScript(main: URL): string {
  const known = scripts.get(main.href) ?? bundleScript(main);
  scripts.set(main.href, known);
  return known;
}

/** The npm package `diff` for browsers, with its license; it defines `Diff`. */
function diffScript(): string {
  const known = scripts.get('diff') ?? readDiff();
  scripts.set('diff', known);
  return known;
}

function readDiff(): string {
  const manifest = createRequire(import.meta.url).resolve('diff/package.json');
  const read = (file: string): string => readFileSync(new URL(file, `file://${manifest}`), 'utf8');
  return `/*! diff\n${read('LICENSE')}*/\n${read('dist/diff.min.js')}`;
}
