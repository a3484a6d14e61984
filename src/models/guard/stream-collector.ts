import type {
  LanguageModelV4Content,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
} from '@ai-sdk/provider';
import { tryParseLossless } from '../../base/json/try-parse.ts';

type Part = LanguageModelV4StreamPart;
type Kind = 'text' | 'reasoning';
type StartPart = Extract<Part, { type: `${Kind}-start` }>;
type DeltaPart = Extract<Part, { type: `${Kind}-delta` }>;
type EndPart = Extract<Part, { type: `${Kind}-end` }>;

/**
 * Collects the parts of a streamed answer until hooks have decided on it. Texts that a model streams
 * interleaved are stored one after another, in order of arrival, so that parts and stream give the same text.
 */
export class StreamCollector {
  readonly #parts: Part[] = [];
  readonly #open: Record<Kind, string | undefined> = { text: undefined, reasoning: undefined };
  readonly #started = new Map<string, StartPart>();

  /** Adds a part of the answer; raw chunks, errors and finish parts are ignored. */
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

  /** The parts as they may be released. Of a tool's input only what its call repeats, which hooks have seen. */
  parts(): Part[] {
    this.#close('text');
    this.#close('reasoning');
    const seen = callsWithSeenInput(this.#parts);
    return this.#parts.filter((part) => !isInput(part) || seen.has(part.id));
  }

  /** The answer that the parts add up to. */
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

/** The calls whose streamed input is the input of the call itself, as JSON or as the text that it encodes. */
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

/** The metadata of a part, to spread; as in the AI SDK, that of a text's last part counts. */
function metadataOf({ providerMetadata }: StartPart | DeltaPart | EndPart) {
  return providerMetadata === undefined ? {} : { providerMetadata };
}
