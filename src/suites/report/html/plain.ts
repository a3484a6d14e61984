import { createHash } from 'node:crypto';
import { escapeInvisible } from '../../../base/text/escape-invisible.ts';
import { loadBuilt } from '../../../base/yaml/built.ts';

// Parts of pages without scripts, as HTML. What is named a title or a line is text.

/** A text of others: nothing in it is markup, turns the direction of writing, or is there unseen. */
export function text(value: string): string {
  return `<bdi>${plain(value)}</bdi>`;
}

/** Likewise where no element may stand, as in an attribute. */
export function plain(value: string): string {
  return escapeHtml(escapeInvisible(value.toWellFormed()));
}

/** Plain text as HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** A table; cells are HTML, titles are not. On a narrow screen each row is a block in which every cell has its title beside it. */
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

/** Empty without lines. */
export function list(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<ul class="problems">${lines.map((line) => `<li>${text(line)}</li>`).join('')}</ul>`;
}

export function fold(title: string, content: string): string {
  return `<details class="box" open><summary>${text(title)}</summary>${content}</details>`;
}

/** A link to an address of ours. */
export function link(address: string, label: string, title = ''): string {
  const told = title === '' ? '' : ` title="${plain(title)}"`;
  return `<a class="link" href="${escapeHtml(address)}"${told}>${text(label)}</a>`;
}

/** What a page without scripts is made of. */
interface PlainPage {
  /** Text. */
  readonly title: string;
  /** Text. */
  readonly heading: string;
  /** HTML beside the heading. */
  readonly facts?: string;
  /** HTML; empty ones are left out. */
  readonly sections: readonly string[];
  /** Where the list of runs is, of a page that is served. */
  readonly home?: string;
  /** Whether its forms may be sent to where it comes from. */
  readonly hasForms?: boolean;
}

/** Renders a page that runs nothing and loads nothing. Throws INTERNAL when the style was not built. */
export function renderPlainPage({ title, heading, facts = '', sections, home, hasForms }: PlainPage): string {
  const { style } = loadBuilt<{ readonly style: string }>('#report-page');
  const back = home === undefined ? '' : `<p>${link(home, '‹ Runs')}</p>\n`;
  const head = pageHead({
    ...{ title: plain(title), style },
    policy: ['img-src data:', ...(hasForms === true ? ["base-uri 'none'", "form-action 'self'"] : closed)],
  });
  return `${head}<main>
${back}<header class="headline"><h1>${plain(heading)}</h1>
${facts}</header>
<div class="summary">
${sections.filter((section) => section !== '').join('\n')}
</div>
</main>
</body>
</html>
`;
}

/** Nothing changes the addresses of the page, and no form is sent. */
export const closed = ["base-uri 'none'", "form-action 'none'"];

/** A page up to its body. Only this style and what the policy names is loaded; `title` is HTML. */
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
