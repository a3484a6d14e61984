import { RuntimeError } from '../base/errors.ts';
import { isObject, stringifyJson } from '../base/json/json.ts';
import { tryParse } from '../base/json/parse.ts';
import { within } from '../base/time/async.ts';
import { omitUndefined } from '../base/yaml/wording.ts';
import { closedError } from '../process/oneshot.ts';
import type { ChannelHandlers, UpstreamChannel, UpstreamServer } from './channel.ts';
import { loadClientSdk } from './sdk.ts';

type Fetch = typeof fetch;

/** Adds the headers of the config to requests to the server, and only to those. Follows no redirect. */
export function serverFetch({ config, binding }: UpstreamServer, inner: Fetch): Fetch {
  return async (input, init) => {
    const { href } = urlOf(config.url);
    if (!isTo(href, input)) return await inner(input, { ...init, redirect: 'manual' });
    const headers = new Headers(init?.headers);
    for (const [key, value] of Object.entries(config.headers)) headers.set(key, value);
    const response = await inner(input, { ...init, headers, redirect: 'manual' });
    const isElsewhere =
      response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
    if (!isElsewhere) return response;
    await response.body?.cancel();
    throw new RuntimeError('REPLY_MALFORMED', `MCP server "${binding.name}" answered with a redirect`, {
      hint: 'Redirects are not followed: declare the url that answers.',
    });
  };
}

function urlOf(text: string | undefined): URL {
  const url = URL.parse(text ?? '');
  if (url === null) throw new RuntimeError('CONFIG_INVALID', 'the url of an MCP server is not a URL');
  return url;
}

function isTo(href: string, input: Parameters<Fetch>[0]): boolean {
  return (input instanceof Request ? input.url : new URL(input).href) === href;
}

/**
 * The SDK keeps the session and resumes streams; `fetch` authenticates. The SDK parses messages, which loses digits, so
 * each message travels through it as a string inside a small envelope.
 */
export async function openHttpChannel(
  server: UpstreamServer,
  fetch: Fetch,
  { onText, onClose }: ChannelHandlers,
): Promise<UpstreamChannel> {
  const { StreamableHTTPClientTransport } = await loadClientSdk();
  const { name, maxOutputBytes, graceMs } = server.binding;
  const url = urlOf(server.config.url);
  let fault: RuntimeError | undefined;
  const carrying = envelopingFetch(fetch, {
    isMessage: (input) => isTo(url.href, input),
    maxBytes: maxOutputBytes,
    limitError: () => {
      const message = `MCP server "${name}" sent a message of more than ${maxOutputBytes} bytes`;
      fault ??= new RuntimeError('OUTPUT_LIMIT', message);
      // It may have been the answer to any request.
      void transport.close();
      return fault;
    },
  });
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: carrying,
    // A lost stream must not keep the process alive.
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, delayMs).unref();
      return () => clearTimeout(timer);
    },
  });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  transport.onmessage = (message) => onText(textOf(message));
  transport.onclose = () => {
    if (isClosed) return;
    isClosed = true;
    resolve();
    onClose?.(fault);
  };
  await transport.start();
  return {
    closed,
    send: async (text, options = {}) => {
      if (isClosed) throw fault ?? closedError(name);
      await transport.send(toSent(text), omitUndefined(options));
    },
    setProtocolVersion: (version) => transport.setProtocolVersion(version),
    close: async () => {
      await within(
        graceMs,
        transport.terminateSession().catch(() => {}),
      );
      await transport.close();
    },
  };
}

type Sent = Parameters<
  InstanceType<Awaited<ReturnType<typeof loadClientSdk>>['StreamableHTTPClientTransport']>['send']
>[0];

const textKey = 'signalbox/text';

/** What the SDK needs for headers, and the text beside it. */
function toSent(text: string): Sent {
  const message = tryParse(text);
  const { method, params, id } = isObject(message) ? message : {};
  if (method === undefined) return { jsonrpc: '2.0', id: id as string, result: { [textKey]: text } };
  const given = isObject(params) ? params : {};
  const meta = isObject(given['_meta']) ? given['_meta'] : {};
  return { ...(message as Sent), params: { ...given, _meta: { ...meta, [textKey]: text } } } as Sent;
}

function takeSent(body: unknown): unknown {
  const message = typeof body === 'string' ? tryParse(body) : undefined;
  const { params, result } = isObject(message) ? message : {};
  const holder = isObject(params) ? params['_meta'] : result;
  return isObject(holder) ? (holder[textKey] ?? body) : body;
}

/** A message of the server as one that the SDK passes on whatever it contains. */
function envelope(text: string): string {
  const message = tryParse(text);
  if (!isObject(message)) return text;
  const { id } = message;
  const carried = { [textKey]: text };
  if ('method' in message) return stringifyJson({ jsonrpc: '2.0', method: textKey, params: carried });
  if ('error' in message)
    return stringifyJson({ jsonrpc: '2.0', id, error: { code: 0, message: '', data: carried } });
  return stringifyJson({ jsonrpc: '2.0', id, result: carried });
}

function textOf(message: object): string {
  const { params, result, error } = message as Readonly<Record<string, unknown>>;
  const holder = params ?? result ?? (isObject(error) ? error['data'] : undefined);
  const text = isObject(holder) ? holder[textKey] : undefined;
  return typeof text === 'string' ? text : stringifyJson(message);
}

interface EnvelopeOptions {
  readonly isMessage: (input: Parameters<Fetch>[0]) => boolean;
  readonly maxBytes: number;
  readonly limitError: () => RuntimeError;
}

function envelopingFetch(inner: Fetch, { isMessage, maxBytes, limitError }: EnvelopeOptions): Fetch {
  return async (input, init) => {
    if (!isMessage(input)) return await inner(input, init);
    const sent = takeSent(init?.body);
    const response = await inner(input, typeof sent === 'string' ? { ...init, body: sent } : init);
    const { status, statusText, headers, body } = response;
    const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
    if (!response.ok || body === null) return response;
    if (type === 'application/json')
      return new Response(envelope(await readText(body, maxBytes, limitError)), {
        status,
        statusText,
        headers,
      });
    if (type !== 'text/event-stream') return response;
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(envelopingEvents(maxBytes, limitError));
    return new Response(events.pipeThrough(new TextEncoderStream()), { status, statusText, headers });
  };
}

async function readText(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  limitError: () => RuntimeError,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw limitError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Replaces the data of each event. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
function envelopingEvents(
  maxLength: number,
  limitError: () => RuntimeError,
): TransformStream<string, string> {
  let rest = '';
  let data: string[] = [];
  let length = 0;
  let fields = '';
  return new TransformStream({
    transform: (chunk, controller) => {
      rest += chunk;
      // A long line arrives in many chunks.
      if (!/[\r\n]/.test(chunk) && rest.length <= maxLength) return;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data:')) {
          const value = line.slice('data:'.length);
          data.push(value.startsWith(' ') ? value.slice(1) : value);
          length += value.length;
        } else if (line !== '') fields += `${line}\n`;
        else {
          const text = data.join('\n');
          // An empty event carries the ID from which a broken stream resumes.
          const sent = text === '' ? text : envelope(text);
          controller.enqueue(`${fields}${data.length === 0 ? '' : `data: ${sent}\n`}\n`);
          [data, length, fields] = [[], 0, ''];
        }
      }
      if (rest.length + length + fields.length > maxLength) controller.error(limitError());
    },
  });
}
