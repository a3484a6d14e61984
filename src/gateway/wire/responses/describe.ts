import type { ChatMessage } from '../../../contract/provider.ts';
import type { BodyFacet, Facets } from './facets.ts';
import type { ItemHead } from './read-item.ts';

/** The message that hooks read of an item, or of all items of an answer. */
export function describe(
  { role, result, approval }: ItemHead,
  facets: Facets,
  more: Readonly<Record<string, unknown>> = {},
): ChatMessage {
  const { calls, results, citations, refusals, reasoning, leftovers } = facets;
  const refusal = joinTexts(refusals);
  const thought = joinTexts(reasoning);
  return {
    role,
    ...describeBody(facets.body),
    ...(calls.length > 0 && { tool_calls: calls.map(({ id, name, args }) => ({ id, name, args })) }),
    ...(results.length > 0 && {
      tool_results: results.map(({ id, name, texts }) => ({ id, name, content: joinTexts(texts) })),
    }),
    ...(result !== undefined && { tool_result: result }),
    ...(approval !== undefined && { tool_approval: approval }),
    ...(citations.length > 0 && { citations: citations.map(({ description }) => description) }),
    ...(refusal !== '' && { refusal }),
    ...(thought !== '' && { reasoning: thought }),
    ...(!leftovers.isEmpty && { other: leftovers.json }),
    ...more,
  };
}

/** `content`, and beside it `parts` unless it is one text. */
export function describeBody(body: readonly BodyFacet[]): {
  readonly content: string;
  readonly parts?: unknown;
} {
  const parts = body.map((facet) =>
    facet.kind === 'text' ? { type: 'text', text: textOf(facet) } : facet.description,
  );
  const content = parts.map((part) => part.text ?? '').join('');
  return body.length > 1 || body[0]?.kind === 'media' ? { content, parts } : { content };
}

/** All texts without anything between them. */
export function joinTexts(
  facets: readonly { readonly place: { readonly text: string | undefined } }[],
): string {
  return facets.map(textOf).join('');
}

function textOf({ place }: { readonly place: { readonly text: string | undefined } }): string {
  return place.text ?? '';
}
