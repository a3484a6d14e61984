import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';

type Part = LanguageModelV4StreamPart;

export interface StreamControl {
  /** Called when the consumer goes away; ends whatever the parts may be waiting for. */
  readonly cancel: (reason: unknown) => void;
}

/** A stream of these parts, each made when it is asked for. */
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
        // Not awaited: the parts may be waiting for a model that does not listen.
        void parts.return(undefined).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

/** Parts that stream a content, one delta for each text. */
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

/** The stream parts of a text that a hook gives in place of the model's. */
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
