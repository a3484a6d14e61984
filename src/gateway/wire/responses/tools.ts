import type { ToolListing } from '../../../contract/provider.ts';
import { isSameToTheDigit } from '../../../json/equal.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';

/** The tools that the client runs, as foreign hooks read them; all definitions are told in `other` as well. */
export function listTools(tools: Place | undefined): ToolListing[] {
  return (tools?.items ?? []).flatMap((tool) => {
    const name = tool.at('name')?.text;
    const type = tool.at('type')?.text;
    if (name === undefined || (type !== 'function' && type !== 'custom')) return [];
    const description = tool.at('description')?.text ?? '';
    return [{ name, description, input_schema: tool.at('parameters')?.json ?? null }];
  });
}

/** Writes what foreign hooks made of the listing: tools can be left out, and their descriptions changed. Throws REPLY_MALFORMED. */
export function writeTools(
  tools: Place | undefined,
  sent: readonly ToolListing[],
  changed: readonly ToolListing[],
  edits: Edits,
): void {
  if (isSameToTheDigit(sent, changed)) return;
  const wanted = new Map(changed.map((tool) => [tool.name, tool]));
  const known = new Map(sent.map((tool) => [tool.name, tool]));
  for (const { name } of changed)
    if (!known.has(name)) throw unwritable('a tool was added to those of the client');
  for (const [index, tool] of (tools?.items ?? []).entries()) {
    const before = known.get(tool.at('name')?.text ?? '');
    if (tools === undefined || before === undefined) continue;
    const after = wanted.get(before.name);
    if (after === undefined) edits.remove(tools, index);
    else writeTool(tool, before, after, edits);
  }
}

function writeTool(tool: Place, before: ToolListing, after: ToolListing, edits: Edits): void {
  const description = tool.at('description');
  if (after.description !== before.description) {
    if (description === undefined) throw unwritable('a tool has got a description');
    edits.replace(description, JSON.stringify(after.description));
  }
  if (!isSameToTheDigit(after.input_schema, before.input_schema))
    throw unwritable('the parameters of a tool were changed');
}
