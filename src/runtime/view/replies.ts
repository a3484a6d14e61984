import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { box, renderPlainPage, text } from '../../suites/report/html/plain.ts';

/** Why a request is not done. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** On every answer: nobody frames, keeps, guesses at or reads it from elsewhere. */
const guardingHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

const htmlHeaders = {
  ...guardingHeaders,
  'content-type': 'text/html; charset=utf-8',
  // What the page itself may do stands in it.
  'content-security-policy': "frame-ancestors 'none'",
};

const jsonHeaders = {
  ...guardingHeaders,
  'content-type': 'application/json; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export function htmlReply(body: string | ReadableStream<Uint8Array>, status = 200): Response {
  return new Response(body, { status, headers: htmlHeaders });
}

/** `json` is a document as text. */
export function jsonReply(json: string, status = 200): Response {
  return new Response(`${json}\n`, { status, headers: jsonHeaders });
}

/** A refusal to who reads pages. */
export function refusalPage({ status, message, hint }: Refusal, home?: string): Response {
  const page = renderPlainPage({
    title: message,
    heading: `${message}.`,
    ...(home !== undefined && { home }),
    sections: hint === '' ? [] : [box('What to do', `<p>${text(hint)}</p>`)],
  });
  return htmlReply(page, status);
}

/**
 * What a browser gets that brings no token: a page without anything of a run, whose script takes the token from the fragment of the
 * address, or from this browser's storage, which is of this host and port alone, and shows the page itself in its place.
 */
export function entryPage({ status, message, hint }: Refusal): Response {
  return htmlReply(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Runs of suites</title>
</head>
<body hidden>
<h1>${text(message)}.</h1>
<p>${text(hint)}</p>
<noscript><p>It is shown with JavaScript, which is switched off here.</p></noscript>
<script>${entryScript}</script>
</body>
</html>
`,
    status,
  );
}

// The page that is written stands under its own content security policy, which forbids what is not made before it.
const entryScript = `
const key = 'signalbox-view';
const [address] = location.href.split('#');
const fragment = new URLSearchParams(location.hash.slice(1));
const given = fragment.get('token');
if (given !== null) {
  localStorage.setItem(key, given);
  fragment.delete('token');
  history.replaceState(null, '', fragment.size === 0 ? address : address + '#' + fragment);
}
const token = localStorage.getItem(key);
const policy = globalThis.trustedTypes?.createPolicy('signalbox-view', { createHTML: (html) => html });
const write = (html) => document.write(policy === undefined ? html : policy.createHTML(html));
const show = async () => {
  const response = await fetch(address, { headers: { authorization: 'Bearer ' + token } });
  if (response.status === 403) return false;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  document.open();
  for (let part = await reader.read(); !part.done; part = await reader.read()) write(part.value);
  document.close();
  return true;
};
const refuse = () => { document.body.hidden = false; };
if (token === null) refuse();
else show().then((isShown) => isShown || refuse(), refuse);
`;

/** A refusal to a page. */
export function refusalDocument({ status, code, message, hint }: Refusal): Response {
  return jsonReply(JSON.stringify({ error: { code, message, hint } }), status);
}

/** What was thrown, as a refusal. */
export function toRefusal(thrown: unknown): Refusal {
  const { code, message, hint } = toRuntimeError(thrown);
  return { status: statusOf(code), code, message, hint };
}

function statusOf(code: RuntimeError['code']): number {
  switch (code) {
    case 'RUN_UNKNOWN':
    case 'NAME_UNKNOWN':
      return 404;
    case 'USAGE':
      return 400;
    default:
      return 500;
  }
}
