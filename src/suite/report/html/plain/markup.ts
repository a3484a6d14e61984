import { escapeInvisible } from '../../../../text/escape-invisible.ts';
import { escapeHtml } from '../embed.ts';

// Parts of pages without scripts, as HTML. What is named a title or a line is text.

/** A text of others: nothing in it is markup, turns the direction of writing, or is there unseen. */
export function text(value: string): string {
  return `<bdi>${plain(value)}</bdi>`;
}

/** Likewise where no element may stand, as in an attribute. */
export function plain(value: string): string {
  return escapeHtml(escapeInvisible(value.toWellFormed()));
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
