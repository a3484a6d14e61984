import type { FilterPort } from '../../capability/hook.ts';
import type { NativeEvent } from '../../contract/hook.ts';
import type { ProviderRequest } from '../../contract/provider.ts';
import type { FilterLink } from '../../hooks/link.ts';
import { joinAnswer } from './joined-answer.ts';
import type { PartVerdict, UnjudgedPart } from './judged-part.ts';

/** What the hook of a link is shown of a request, and who is told what it made of that. */
export interface Shortening {
  shorten(request: ProviderRequest): UnjudgedPart;
  note(verdicts: readonly (readonly [name: string, verdict: PartVerdict])[]): void;
}

/** The link of a filter that is asked about a part of a request, and whose answer is one about the whole. */
export function shortenLink(link: FilterLink, shortening: Shortening): FilterLink {
  const { listener } = link;
  return { ...link, listener: { ...listener, port: shortenPort(listener.port, shortening) } };
}

function shortenPort(port: FilterPort, { shorten, note }: Shortening): FilterPort {
  const { codec } = port;
  // What was encoded is what the reply is about.
  const parts = new WeakMap<NativeEvent, UnjudgedPart>();
  return {
    ...port,
    codec: {
      encode: (event) => {
        if (event.phase !== 'before_call') return codec.encode(event);
        const part = shorten(event.request);
        parts.set(event, part);
        return codec.encode({ ...event, request: part.shown });
      },
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
