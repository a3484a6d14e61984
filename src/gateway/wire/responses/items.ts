import type { Edits } from '../edits.ts';
import type { Place } from '../place.ts';
import { Seen } from '../seen.ts';
import type { Members, WalkContext } from '../shape.ts';
import { walk } from '../walk.ts';

/** Whether a member of a body is of its shape and shows hooks nothing. One without a shape is not. */
export function isShaped(place: Place, key: string, members: Members): boolean {
  const shape = Object.hasOwn(members, key) ? members[key] : undefined;
  if (shape === undefined) return false;
  const seen = new Seen(place);
  walk({ place, owner: place, entry: key, path: key }, shape, context, seen);
  return seen.isEmpty;
}

/** Settings hold no content, so that no rule lets some of it pass. */
const context: WalkContext = {
  rules: { opaque: new Set(), references: new Set(), redactsEmbeddings: false },
  isAnswer: true,
  at: '',
};

/** Takes out what is sealed in an item of reasoning, since it repeats the reasoning that a hook has changed. */
export function dropSealed(item: Place, edits: Edits): void {
  const sealed = item.at('type')?.text === 'reasoning' ? item.at('encrypted_content') : undefined;
  if (sealed?.kind === 'string' && sealed.text !== '') edits.replace(sealed, 'null');
}

/**
 * Whether the API runs a call itself, as the request asked it to: hosted shells and tool searches are calls of the same kinds as the
 * client's own. What the item alone says of it is not enough, since a client that runs such calls may not look there.
 */
export function isServedByRequest(item: Place | undefined, sent: Place | undefined): boolean {
  const tools = sent?.at('tools')?.items ?? [];
  const of = (type: string) => tools.filter((tool) => tool.at('type')?.text === type);
  switch (item?.at('type')?.text) {
    case 'shell_call': {
      const environment = item.at('environment')?.at('type')?.text;
      return environment === 'container_reference' && isAll(of('shell'), isHostedShell);
    }
    case 'tool_search_call':
      return item.at('execution')?.text === 'server' && isAll(of('tool_search'), isHostedSearch);
    default:
      return false;
  }
}

function isAll(tools: readonly Place[], isHosted: (tool: Place) => boolean): boolean {
  return tools.length > 0 && tools.every(isHosted);
}

function isHostedShell(tool: Place): boolean {
  const type = tool.at('environment')?.at('type')?.text;
  return type === 'container_auto' || type === 'container_reference';
}

function isHostedSearch(tool: Place): boolean {
  const execution = tool.at('execution');
  return execution === undefined || execution.kind === 'null' || execution.text === 'server';
}
