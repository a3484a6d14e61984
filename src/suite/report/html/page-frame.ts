import { createHash } from 'node:crypto';
import { loadBuilt } from '../../../yaml/built.ts';
import { escapeHtml } from './embed.ts';

// The data stands after the script, which is a module and so runs when all of it is read. A page that ends
// early, since its run was aborted, can be viewed, too.

export const blockStart = '<script type="text/plain" data-block>\n';
export const blockEnd = '</script>\n';
export const pageEnd = '</body>\n</html>\n';

/** Everything before the data; a page that is served may ask its server. Throws INTERNAL when the page was not built. */
export function pageStart(suite: string, isServed: boolean): string {
  const { script, style } = loadBuilt<ReportPage>('#report-page');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf({ script, style }, isServed)}">
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
<script type="module">${script}</script>
`;
}

/** What rolldown.config.ts makes of page/ and style/. */
interface ReportPage {
  readonly script: string;
  readonly style: string;
}

/** The content security policy: only this script and this style, nothing is loaded from elsewhere, text cannot become markup. */
function policyOf({ script, style }: ReportPage, isServed: boolean): string {
  const rules = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    ...(isServed ? ["connect-src 'self'"] : []),
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
