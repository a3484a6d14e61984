import { type RuntimeError, toRuntimeError } from '../../errors.ts';
import { box, text } from '../../suite/report/html/plain/markup.ts';
import { renderPlainPage } from '../../suite/report/html/plain/page.ts';

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
