import { createHash } from 'node:crypto';
import { loadBuilt } from '../../../../yaml/built.ts';
import { link, plain } from './markup.ts';

/** What a page without scripts is made of. */
export interface PlainPage {
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
export function renderPlainPage({
  title,
  heading,
  facts = '',
  sections,
  home,
  hasForms = false,
}: PlainPage): string {
  const { style } = loadBuilt<{ readonly style: string }>('#report-page');
  const back = home === undefined ? '' : `<p>${link(home, '‹ Runs')}</p>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(style, hasForms)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${plain(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
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

/** Only the style of the page: nothing runs, nothing is loaded. */
function policyOf(style: string, hasForms: boolean): string {
  const digest = createHash('sha256').update(style).digest('base64');
  const forms = hasForms ? "'self'" : "'none'";
  return `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action ${forms}`;
}
