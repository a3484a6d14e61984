import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, socketPlace } from '../../base/files/socket-place.ts';
import { readAtMost } from '../../base/text/bytes.ts';
import { isLoopbackName } from '../../base/text/url.ts';
import type { Invocation } from '../invocation.ts';
import type { AgentAnswer, AgentEvent, Judge } from './resident.ts';

/** The variable in which Claude Code finds the token. */
export const tokenVariable = 'SIGNALBOX_AGENT_TOKEN';
export const agentPath = '/agents/claude';

/** The token for agents on HTTP: that of the variable, or this user's, created on first use. Throws Error, or the system error. */
export function agentToken(env: Invocation['env']): string {
  const { [tokenVariable]: given = '' } = env;
  return given === '' ? keptToken(env) : requireLong(given, tokenVariable);
}

function keptToken(env: Invocation['env']): string {
  const { folder } = socketPlace([], env);
  makePrivateFolder(folder);
  const file = join(folder, 'token');
  try {
    writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch {
    // It exists, or reading it reports the error.
  }
  return requireLong(readFileSync(file, 'utf8'), file);
}

/** A full disk leaves an empty file. */
function requireLong(token: string, place: string): string {
  if (token.length < SHORTEST_TOKEN)
    throw new Error(`${place} has a token of fewer than ${SHORTEST_TOKEN} characters: remove it`);
  return token;
}

const SHORTEST_TOKEN = 32;

interface AgentOptions {
  readonly judge: Judge;
  readonly invocation: Pick<Invocation, 'env' | 'cwd'>;
  readonly level: AgentEvent['level'];
  readonly token: string;
}

/**
 * `/agents/claude` as a part of another server, for Claude Code's own requests. Only on loopback: nothing encrypts the
 * token. Refuses what browsers send, and names of other hosts.
 */
export function agentsMount(options: AgentOptions) {
  let isServed = false;
  return {
    takes: (path: string) => /^\/agents(?:[/?]|$)/.test(path),
    open: async (_runtime: unknown, { host, url }: { readonly host: string; readonly url: () => string }) => {
      isServed = isLoopbackName(host);
      const fetch = async (request: Request) => await answer(request, new URL(url()).host, options);
      return isServed ? { fetch, leave: () => {} } : undefined;
    },
    addressAt: (server: string) => (isServed ? { url: `${server}${agentPath}` } : undefined),
  };
}

async function answer(
  request: Request,
  host: string,
  { judge, invocation, level, token }: AgentOptions,
): Promise<Response> {
  const { headers, signal } = request;
  const { pathname, searchParams } = new URL(request.url);
  const refuse = (status: number, more: Record<string, string> = {}) =>
    new Response(null, { status, headers: more });
  if (headers.get('host') !== host || headers.has('origin') || headers.has('sec-fetch-site'))
    return refuse(403);
  if (!isSame(headers.get('authorization') ?? '', `Bearer ${token}`))
    return refuse(401, { 'www-authenticate': 'Bearer' });
  if (pathname !== agentPath) return refuse(404);
  if (request.method !== 'POST') return refuse(405, { allow: 'POST' });
  if (!/^application\/json(?:;|$)/i.test(headers.get('content-type') ?? '')) return refuse(415);
  const body = await readAtMost(request.body ?? [], LARGEST_EVENT);
  if (body === undefined) return refuse(413);
  const event = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const within = searchParams.get('answer-within') ?? '590s';
  const answered = await judge.judge({ dialect: 'claude', event, ...invocation, level, within, signal });
  return new Response(documentOf(answered), { headers: { 'content-type': 'application/json' } });
}

/** In a time that does not depend on the texts. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}

const LARGEST_EVENT = 64 * 1024 * 1024;

/** Claude Code reads no exit code here: exit 1 shows the person a message, and any other failure stops it. */
function documentOf({ code, stdout, stderr }: AgentAnswer): string {
  // Parsing it would round long numbers.
  if (stdout !== '') return stdout;
  const reason = stderr.trim();
  const stop = { decision: 'block', reason, continue: false, stopReason: reason };
  return JSON.stringify(code === 0 ? {} : code === 1 ? { systemMessage: reason } : stop);
}
