import type { FilterPort } from '../../calls/capability/hook.ts';
import type { FilterLink } from '../../calls/hooks/link.ts';
import type { NativeEvent } from '../../contract/hook.ts';
import type { ProviderRequest } from '../../contract/provider.ts';
import type { Message, Transport } from '../../process/transport.ts';
import { joinAnswer } from './joined-answer.ts';
import type { PartVerdict, UnjudgedPart } from './judged-part.ts';

/** What the hook of a link is shown of a request, and who is told what it made of that. */
export interface Shortening {
  /** Done before `shorten`; absent: nothing has to be done. Never rejects. */
  prepare?: ((request: ProviderRequest) => Promise<void>) | undefined;
  shorten(request: ProviderRequest): UnjudgedPart;
  note(verdicts: readonly (readonly [name: string, verdict: PartVerdict])[]): void;
}

/** The link of a filter that is asked about a part of a request, and whose answer is one about the whole. */
export function shortenLink(link: FilterLink, shortening: Shortening): FilterLink {
  const { listener } = link;
  return { ...link, listener: { ...listener, port: shortenPort(listener.port, shortening) } };
}

function shortenPort(port: FilterPort, { prepare, shorten, note }: Shortening): FilterPort {
  const { codec, transport } = port;
  // What was encoded is what the reply is about.
  const parts = new WeakMap<NativeEvent, UnjudgedPart>();
  const encode = (event: NativeEvent): Message => {
    if (event.phase !== 'before_call') return codec.encode(event);
    const part = shorten(event.request);
    parts.set(event, part);
    return codec.encode({ ...event, request: part.shown });
  };
  const late = prepare && encodeLate(transport, { prepare, encode });
  return {
    ...port,
    ...(late && { transport: late.transport }),
    codec: {
      encode: late?.encode ?? encode,
      decode: (reply, event) => {
        const part = parts.get(event);
        if (part === undefined || event.phase !== 'before_call') return codec.decode(reply, event);
        const { output, notes } = codec.decode(reply, { ...event, request: part.shown });
        const { answer, verdicts } = joinAnswer(output, part);
        note(verdicts);
        return { output: answer, notes };
      },
    },
  };
}

interface LateEncoding {
  readonly prepare: NonNullable<Shortening['prepare']>;
  readonly encode: (event: NativeEvent) => Message;
}

/** What is sent is known only after something that takes time: until then something else stands for it. */
function encodeLate(transport: Transport, { prepare, encode }: LateEncoding) {
  const waiting = new WeakMap<Message, NativeEvent>();
  const late: Transport = {
    ...(transport.notify && { notify: (message, signal) => notifyOver(transport, message, signal) }),
    ...(transport.startCount && { startCount: () => transport.startCount?.() ?? 0 }),
    warm: () => transport.warm(),
    close: () => transport.close(),
    exchange: async (message, signal, clock) => {
      const event = waiting.get(message);
      if (event?.phase === 'before_call') await prepare(event.request);
      return await transport.exchange(event === undefined ? message : encode(event), signal, clock);
    },
  };
  return {
    transport: late,
    encode: (event: NativeEvent): Message => {
      const placeholder: Message = { method: '', body: '' };
      waiting.set(placeholder, event);
      return placeholder;
    },
  };
}

async function notifyOver(transport: Transport, message: Message, signal?: AbortSignal): Promise<void> {
  await transport.notify?.(message, signal);
}
