import { createHash } from 'node:crypto';
import { escapeInvisible } from '../../../base/text/escape-invisible.ts';
import { loadBuilt } from '../../../base/yaml/built.ts';

// Parts of HTML pages without scripts. Parameters named title or line are text, not HTML.

/** Escapes a foreign text so that it cannot contain markup, change the writing direction or hide characters. */
export function text(value: string): string {
  return `<bdi>${plain(value)}</bdi>`;
}

/** Like `text`, for attributes and other places without elements. */
function plain(value: string): string {
  return escapeHtml(escapeInvisible(value.toWellFormed()));
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Cells are HTML, titles are text. On a narrow screen each row is a block with the title beside each cell. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  kind: 'figures' | 'words' = 'figures',
): string {
  const head = heads.map((title) => `<th scope="col">${text(title)}</th>`).join('');
  const body = rows
    .map(([first = '', ...cells]) => {
      const rest = cells
        .map((cell, index) => `<td data-title="${plain(heads[index + 1] ?? '')}">${cell}</td>`)
        .join('');
      return `<tr><th scope="row">${first}</th>${rest}</tr>`;
    })
    .join('\n');
  return `<div class="scroll"><table class="${kind} blocks"><thead><tr>${head}</tr></thead>\n<tbody>\n${body}\n</tbody></table></div>`;
}

export function box(name: string, content: string): string {
  return `<section class="box" aria-label="${escapeHtml(name)}">${content}</section>`;
}

export function list(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<ul class="problems">${lines.map((line) => `<li>${text(line)}</li>`).join('')}</ul>`;
}

export function fold(title: string, content: string): string {
  return `<details class="box" open><summary>${text(title)}</summary>${content}</details>`;
}

interface PlainPage {
  readonly title: string;
  readonly heading: string;
  readonly facts?: string;
  readonly sections: readonly string[];
}

/** A page that runs no scripts and loads nothing. Throws INTERNAL if the style was not built. */
export function renderPlainPage({ title, heading, facts = '', sections }: PlainPage): string {
  const { style } = loadBuilt<{ readonly style: string }>('#report-page');
  const head = pageHead({
    ...{ title: plain(title), style },
    policy: ['img-src data:', ...closed],
  });
  return `${head}<main>
<header class="headline"><h1>${plain(heading)}</h1>
${facts}</header>
<div class="summary">
${sections.filter((section) => section !== '').join('\n')}
</div>
</main>
</body>
</html>
`;
}

/** Forbids base URLs and form submission. */
export const closed = ["base-uri 'none'", "form-action 'none'"];

/** The page up to its body. The policy allows only this style and the given sources. `title` is HTML. */
export function pageHead({
  title,
  style,
  policy,
  script,
  hasColourScheme = true,
}: {
  readonly title: string;
  readonly style: string;
  readonly policy: readonly string[];
  readonly script?: string;
  readonly hasColourScheme?: boolean;
}): string {
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const rules = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    `style-src ${hashOf(style)}`,
    ...policy,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${hasColourScheme ? '<meta name="color-scheme" content="light dark">\n' : ''}<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
`;
}
