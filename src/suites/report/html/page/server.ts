import { keep, readKept } from '../../../../base/page/theme.ts';
import type { Rating } from '../../../rating/rating.ts';
import type { Served } from '../row.ts';
import type { Entry, Place } from './data.ts';

// Requests to the server of the page. After a failure, each function resolves to a message for the user.

export interface Said {
  score?: number;
  label?: string;
  comment?: string;
}

export type Sent<Value> = { readonly value: Value } | { readonly failed: string };

export async function sendRating(served: Served, place: Place, said: Said): Promise<Sent<Rating>> {
  const sent = await change(served, 'POST', { ...ofPlace(place), ...said });
  return 'failed' in sent ? sent : { value: (sent.value as { rating: Rating }).rating };
}

export async function withdrawRating(served: Served, place: Place): Promise<Sent<unknown>> {
  return await change(served, 'DELETE', ofPlace(place));
}

export async function loadDetails(served: Served, entries: readonly Entry[], variants: readonly string[]) {
  for (const entry of entries) {
    const query = new URLSearchParams({ id: entry.id, number: String(entry.number) });
    const variant = variants[entry.variant];
    if (variant !== undefined) query.set('variant', variant);
    const sent = await ask(served, `${served.cases}?${query}`);
    if ('failed' in sent) return sent;
    entry.detail = sent.value;
  }
  return { value: entries };
}

function ofPlace({ case: id, variant, eval: evalId, by }: Place) {
  return { case: id, variant, ...(evalId === null ? {} : { eval: evalId }), by };
}

async function change(served: Served, method: string, body: unknown): Promise<Sent<unknown>> {
  const sent = await ask(served, served.ratings ?? '', {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return 'failed' in sent ? sent : { value: JSON.parse(sent.value) };
}

async function ask({ token }: Served, address: string, request: RequestInit = {}): Promise<Sent<string>> {
  try {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const response = await fetch(address, { ...request, headers });
    const text = await response.text();
    return response.ok ? { value: text } : { failed: describe(text) };
  } catch {
    return {
      failed: 'The server does not answer: `signalbox eval view` has ended, or the connection was lost.',
    };
  }
}

function describe(text: string): string {
  try {
    const { message, hint } = JSON.parse(text).error;
    return hint === '' ? message : `${message}. ${hint}`;
  } catch {
    return 'The server sent an unexpected answer.';
  }
}

const storageKey = 'eval-rater';

/** The name last entered here, or else the name of the server's user. */
export function nameOf({ by }: Served): string {
  return readKept(storageKey) ?? by;
}

export function keepName(name: string) {
  keep(storageKey, name);
}
