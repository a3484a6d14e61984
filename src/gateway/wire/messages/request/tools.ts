import type { ToolListing } from '../../../../contract/provider.ts';
import { isSameToTheDigit } from '../../../../json/equal.ts';
import type { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import type { Place } from '../../place.ts';

/** The tools that a model is offered, for hooks that look at them; those of the provider have no schema. */
export function listTools(tools: Place | undefined): ToolListing[] {
  return (tools?.items ?? []).flatMap(describeTool);
}

function describeTool(tool: Place): ToolListing[] {
  const name = tool.at('name')?.text;
  if (name === undefined) return [];
  const schema = tool.at('input_schema');
  return [{ name, description: tool.at('description')?.text ?? '', input_schema: schema?.value ?? {} }];
}

/** Takes out the tools that hooks have left out. Throws REPLY_MALFORMED for any other change. */
export function writeTools(tools: Place | undefined, changed: readonly ToolListing[], edits: Edits): void {
  let at = 0;
  for (const [entry, tool] of (tools?.items ?? []).entries()) {
    const [listing] = describeTool(tool);
    if (listing === undefined) continue;
    const next = changed[at];
    if (next === undefined || next.name !== listing.name) {
      if (tools !== undefined) edits.remove(tools, entry);
    } else {
      at += 1;
      if (!isSameTool(next, listing)) throw unwritable('a tool that the model is offered was changed');
    }
  }
  if (at < changed.length) throw unwritable('the model is offered a tool that the request has not');
}

function isSameTool(one: ToolListing, other: ToolListing): boolean {
  return one.description === other.description && isSameToTheDigit(one.input_schema, other.input_schema);
}
