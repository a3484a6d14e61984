import { readKey } from '../../../../base/page/key.ts';
import type { Rating } from '../../../rating/rating.ts';
import type { Row } from '../row.ts';
import type { Data, Entry, Place } from './data.ts';

// Requests to the server of the page. After a failure, each function resolves to a message for the user.

const [, base = '', run = ''] = /^(.*)\/console\/evals\/([^/]+)\/?$/.exec(location.pathname) ?? [];
const ofRun = `${base}/api/v1/evals/runs/${run}`;

export const consoleAddress = `${base}/console`;

export interface Said {
  score?: number;
  label?: string;
  comment?: string;
}

export type Sent<Value> = { readonly value: Value } | { readonly failed: string };

export async function sendRating(place: Place, said: Said): Promise<Sent<Rating>> {
  const sent = await change('POST', { ...ofPlace(place), ...said });
  return 'failed' in sent ? sent : { value: JSON.parse(sent.value) };
}

export async function withdrawRating(place: Place): Promise<Sent<unknown>> {
  return await change('DELETE', ofPlace(place));
}

export async function loadDetails(entries: readonly Entry[], variants: readonly string[]) {
  for (const entry of entries) {
    const query = new URLSearchParams({ case: entry.id, number: String(entry.number) });
    const variant = variants[entry.variant];
    if (variant !== undefined) query.set('variant', variant);
    const sent = await ask(`${ofRun}/case?${query}`);
    if ('failed' in sent) return sent;
    entry.detail = sent.value.replaceAll('<', '\\u003c').trim();
  }
  return { value: entries };
}

/** The sections of the console that the reader may see. */
export async function loadSections(): Promise<readonly string[]> {
  const sent = await ask(`${base}/api/v1/me`);
  return 'failed' in sent ? [] : JSON.parse(sent.value).sections;
}

/** Reads the lines of the page. `onPart` is called after each part. */
export async function loadLines(
  take: (line: string) => void,
  { hasDetails = false, onPart = () => {} }: { hasDetails?: boolean; onPart?: () => void },
): Promise<Sent<null>> {
  const sent = await send(`${ofRun}/report${hasDetails ? '?details=true' : ''}`);
  if ('failed' in sent) return sent;
  const reader = sent.value.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let isWhole = false;
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      const lines = (rest + part.value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
      isWhole ||= lines.at(-1)?.startsWith('notice ') === true;
      onPart();
    }
  } catch {}
  return isWhole ? { value: null } : { failed: lost };
}

const loaded = new WeakMap<Data, Promise<Sent<null>>>();

/** Loads the details of all cases, once. */
export async function loadAllDetails(data: Data): Promise<Sent<null>> {
  if (data.served === null) return { value: null };
  const loading = loaded.get(data) ?? fillIn(data);
  loaded.set(data, loading);
  const sent = await loading;
  if ('failed' in sent) loaded.delete(data);
  return sent;
}

async function fillIn({ entries }: Data): Promise<Sent<null>> {
  const keyOf = (number: number, variant: number) => `${number} ${variant}`;
  const all = entries.flatMap((entry) => (entry.variants.length === 0 ? [entry] : entry.variants));
  const byPlace = new Map(all.map((entry) => [keyOf(entry.number, entry.variant), entry]));
  let last: Entry | undefined;
  const take = (line: string) => {
    if (line.startsWith('row ')) {
      const { 0: number, 9: variant = -1 } = JSON.parse(line.slice(4)) as Row;
      last = byPlace.get(keyOf(number, variant));
    } else if (line.startsWith('detail ') && last !== undefined) last.detail = line.slice(7);
  };
  return await loadLines(take, { hasDetails: true });
}

function ofPlace({ case: id, variant, eval: evalId }: Place) {
  return { case: id, variant, ...(evalId === null ? {} : { eval: evalId }) };
}

async function change(method: string, body: unknown): Promise<Sent<string>> {
  const headers = { 'content-type': 'application/json' };
  return await ask(`${ofRun}/ratings`, { method, headers, body: JSON.stringify(body) });
}

async function ask(address: string, request?: RequestInit): Promise<Sent<string>> {
  const sent = await send(address, request);
  if ('failed' in sent) return sent;
  try {
    return { value: await sent.value.text() };
  } catch {
    return { failed: lost };
  }
}

async function send(address: string, request: RequestInit = {}): Promise<Sent<Response>> {
  try {
    const headers = { ...request.headers, authorization: `Bearer ${readKey() ?? ''}` };
    const response = await fetch(address, { ...request, headers });
    if (response.ok) return { value: response };
    return { failed: response.status === 401 ? keyless : describe(await response.text()) };
  } catch {
    return { failed: lost };
  }
}

const keyless =
  'The server needs a key: enter one in the console, or open the address that was printed at its start.';
const lost = 'The server does not answer: it has ended, or the connection was lost.';

function describe(text: string): string {
  try {
    const { message, hint = '' } = JSON.parse(text).error;
    return hint === '' ? message : `${message}. ${hint}`;
  } catch {
    return 'The server sent an unexpected answer.';
  }
}
