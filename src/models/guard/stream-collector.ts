import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { tryParseLossless } from '../../base/json/parse.ts';

type Part = LanguageModelV4StreamPart;
type Kind = 'text' | 'reasoning';
type StartPart = Extract<Part, { type: `${Kind}-start` }>;
type DeltaPart = Extract<Part, { type: `${Kind}-delta` }>;
type EndPart = Extract<Part, { type: `${Kind}-end` }>;

/**
 * Collects the parts of a streamed answer until hooks have decided on it. Interleaved texts are stored one after
 * another, in order of arrival, so that parts and stream give the same text.
 */
export class StreamCollector {
  readonly #parts: Part[] = [];
  readonly #open: Record<Kind, string | undefined> = { text: undefined, reasoning: undefined };
  readonly #started = new Map<string, StartPart>();

  add(part: Part): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(part);
        break;
      case 'text-delta':
      case 'reasoning-delta':
        this.#continue(part);
        break;
      case 'text-end':
      case 'reasoning-end':
        this.#end(part);
        break;
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-approval-request':
      case 'tool-call':
      case 'tool-result':
      case 'custom':
      case 'file':
      case 'reasoning-file':
      case 'source':
        this.#parts.push(part);
        break;
      default:
        break;
    }
  }

  parts(): Part[] {
    this.#close('text');
    this.#close('reasoning');
    const seen = callsWithSeenInput(this.#parts);
    return this.#parts.filter((part) => !isInput(part) || seen.has(part.id));
  }

  content(): LanguageModelV4Content[] {
    return toContent(this.parts());
  }

  #start(part: StartPart): void {
    const kind = kindOf(part.type);
    this.#started.set(keyOf(kind, part.id), part);
    if (this.#open[kind] === undefined) this.#begin(kind, part.id);
  }

  #continue(part: DeltaPart): void {
    const kind = kindOf(part.type);
    if (this.#open[kind] !== part.id) {
      this.#close(kind);
      this.#begin(kind, part.id);
    }
    this.#parts.push(part);
  }

  #end(part: EndPart): void {
    const kind = kindOf(part.type);
    if (this.#open[kind] !== part.id) return;
    this.#parts.push(part);
    this.#open[kind] = undefined;
  }

  #begin(kind: Kind, id: string): void {
    this.#parts.push(this.#started.get(keyOf(kind, id)) ?? { type: `${kind}-start`, id });
    this.#open[kind] = id;
  }

  #close(kind: Kind): void {
    const id = this.#open[kind];
    if (id !== undefined) this.#parts.push({ type: `${kind}-end`, id });
    this.#open[kind] = undefined;
  }
}

function kindOf(type: (StartPart | DeltaPart | EndPart)['type']): Kind {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

function keyOf(kind: Kind, id: string): string {
  return `${kind} ${id}`;
}

type InputPart = Extract<Part, { type: `tool-input-${string}` }>;

function isInput(part: Part): part is InputPart {
  return (
    part.type === 'tool-input-start' || part.type === 'tool-input-delta' || part.type === 'tool-input-end'
  );
}

function callsWithSeenInput(parts: readonly Part[]): ReadonlySet<string> {
  const texts = new Map<string, string>();
  for (const part of parts) {
    if (part.type === 'tool-input-delta') texts.set(part.id, (texts.get(part.id) ?? '') + part.delta);
  }
  const seen = parts.flatMap((part) => {
    if (part.type !== 'tool-call') return [];
    const text = texts.get(part.toolCallId) ?? '';
    const isSeen = text === '' || part.input === text || tryParseLossless(part.input) === text;
    return isSeen ? [part.toolCallId] : [];
  });
  return new Set(seen);
}

function toContent(parts: readonly Part[]): LanguageModelV4Content[] {
  const content: LanguageModelV4Content[] = [];
  const open: Partial<Record<Kind, LanguageModelV4Text | LanguageModelV4Reasoning>> = {};
  for (const part of parts) {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const kind = kindOf(part.type);
        const openPart = { type: kind, text: '', ...metadataOf(part) };
        open[kind] = openPart;
        content.push(openPart);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const openPart = open[kindOf(part.type)];
        if (openPart !== undefined)
          Object.assign(openPart, { text: openPart.text + part.delta, ...metadataOf(part) });
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const citations = part.type === 'text-end' && part.citations ? { citations: part.citations } : {};
        const openPart = open[kindOf(part.type)];
        if (openPart !== undefined) Object.assign(openPart, { ...citations, ...metadataOf(part) });
        break;
      }
      case 'tool-approval-request':
      case 'tool-call':
      case 'tool-result':
      case 'custom':
      case 'file':
      case 'reasoning-file':
      case 'source':
        content.push(part);
        break;
      default:
        break;
    }
  }
  return content;
}

/** As in the AI SDK, the metadata of a text's last part counts. */
function metadataOf({ providerMetadata }: StartPart | DeltaPart | EndPart) {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

interface StreamControl {
  /** Called when the consumer cancels. Must end whatever the parts are waiting for. */
  readonly cancel: (reason: unknown) => void;
}

export function toStream(parts: AsyncGenerator<Part>, { cancel }: StreamControl): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      pull: async (controller) => {
        const { done, value } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => {
        cancel(reason);
        // Not awaited: the parts may be waiting for a model that ignores its signal.
        void parts.return(undefined).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

export function streamContent(content: readonly LanguageModelV4Content[]): Part[] {
  return content.flatMap((part, index): Part[] => {
    if (part.type !== 'text' && part.type !== 'reasoning') return [part];
    const id = `signalbox-${index}`;
    const { text, providerMetadata } = part;
    const metadata = providerMetadata === undefined ? {} : { providerMetadata };
    if (part.type === 'reasoning') {
      return [
        { type: 'reasoning-start', id, ...metadata },
        { type: 'reasoning-delta', id, delta: text },
        { type: 'reasoning-end', id, ...metadata },
      ];
    }
    const citations = part.citations === undefined ? {} : { citations: part.citations };
    return [
      { type: 'text-start', id, ...metadata },
      { type: 'text-delta', id, delta: text },
      { type: 'text-end', id, ...citations, ...metadata },
    ];
  });
}

export function streamText(text: string, id = 'signalbox'): Part[] {
  if (text === '') return [];
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
  ];
}

export interface StreamEnd {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly providerMetadata?: SharedV4ProviderMetadata;
}

export function finishPart(end: StreamEnd): Part {
  return { type: 'finish', ...end };
}

export interface UniqueToolCallIds {
  content(content: readonly LanguageModelV4Content[]): LanguageModelV4Content[];
  part(part: Part): Part;
}

/**
 * Renames tool call ids that an API repeats within an answer or in a later one: the second `call_1` becomes `call_1-2`.
 * Calls that the provider runs itself keep their ids.
 */
export function createUniqueToolCallIds(prompt: LanguageModelV4Prompt): UniqueToolCallIds {
  const taken = new Set(idsOf(prompt));
  const inputs = new Map<string, StreamedInput[]>();
  const take = (id: string): string => {
    let own = id;
    for (let count = 2; taken.has(own); count++) own = `${id}-${count}`;
    taken.add(own);
    return own;
  };
  const begin = (id: string): string => {
    const input: StreamedInput = { id: take(id), isEnded: false, isCalled: false };
    inputs.set(id, [...(inputs.get(id) ?? []), input]);
    return input.id;
  };
  const call = (id: string): string => {
    const input = inputs.get(id)?.find(({ isCalled }) => !isCalled);
    if (input === undefined) return take(id);
    input.isCalled = true;
    return input.id;
  };
  const withUniqueId = <Named extends IdentifiedCall>(part: Named): Named => {
    if (part.providerExecuted !== true) return { ...part, toolCallId: call(part.toolCallId) };
    taken.add(part.toolCallId);
    return part;
  };
  return {
    content: (content) => content.map((part) => (part.type === 'tool-call' ? withUniqueId(part) : part)),
    part: (part) => {
      switch (part.type) {
        case 'tool-call':
          return withUniqueId(part);
        case 'tool-input-start':
          return part.providerExecuted === true ? part : { ...part, id: begin(part.id) };
        case 'tool-input-delta':
          return { ...part, id: inputs.get(part.id)?.findLast(({ isEnded }) => !isEnded)?.id ?? part.id };
        case 'tool-input-end': {
          const input = inputs.get(part.id)?.find(({ isEnded }) => !isEnded);
          if (input === undefined) return part;
          input.isEnded = true;
          return { ...part, id: input.id };
        }
        default:
          return part;
      }
    },
  };
}

interface IdentifiedCall {
  readonly toolCallId: string;
  readonly providerExecuted?: boolean;
}

interface StreamedInput {
  readonly id: string;
  isEnded: boolean;
  isCalled: boolean;
}

function idsOf(prompt: LanguageModelV4Prompt): string[] {
  return prompt.flatMap(({ role, content }) =>
    role === 'assistant'
      ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
      : [],
  );
}
