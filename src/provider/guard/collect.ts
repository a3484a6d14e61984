import type {
  LanguageModelV4Content,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
} from '@ai-sdk/provider';
import { parseIfJson } from '../messages/rebuild-tool.ts';

type Part = LanguageModelV4StreamPart;
type Kind = 'text' | 'reasoning';
type StartPart = Extract<Part, { type: `${Kind}-start` }>;
type DeltaPart = Extract<Part, { type: `${Kind}-delta` }>;
type EndPart = Extract<Part, { type: `${Kind}-end` }>;

/**
 * Keeps the parts of a streamed answer until somebody has judged it. Texts that a model streams side by side
 * are kept one after another, in the order in which they came: whoever puts an answer together by its parts
 * then reads the same text as whoever reads the stream.
 */
export class StreamCollector {
  readonly #parts: Part[] = [];
  readonly #open: Record<Kind, string | undefined> = { text: undefined, reasoning: undefined };
  readonly #started = new Map<string, StartPart>();

  /** Takes a part of the answer. What is no part of it (raw chunks, errors, the ends) is nothing to keep. */
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
    const seen = seenInputs(this.#parts);
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
function seenInputs(parts: readonly Part[]): ReadonlySet<string> {
  const texts = new Map<string, string>();
  for (const part of parts) {
    if (part.type === 'tool-input-delta') texts.set(part.id, (texts.get(part.id) ?? '') + part.delta);
  }
  const seen = parts.flatMap((part) => {
    if (part.type !== 'tool-call') return [];
    const text = texts.get(part.toolCallId) ?? '';
    const isSeen = text === '' || part.input === text || parseIfJson(part.input) === text;
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
        const begun = { type: kind, text: '', ...metadataOf(part) };
        open[kind] = begun;
        content.push(begun);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const begun = open[kindOf(part.type)];
        if (begun !== undefined) Object.assign(begun, { text: begun.text + part.delta, ...metadataOf(part) });
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const citations = part.type === 'text-end' && part.citations ? { citations: part.citations } : {};
        const begun = open[kindOf(part.type)];
        if (begun !== undefined) Object.assign(begun, { ...citations, ...metadataOf(part) });
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

/** As the AI SDK reads it: what was said last of a text's metadata holds. */
function metadataOf({ providerMetadata }: StartPart | DeltaPart | EndPart) {
  return providerMetadata === undefined ? {} : { providerMetadata };
}
