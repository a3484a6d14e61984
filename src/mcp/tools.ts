import type { Tool } from '@modelcontextprotocol/server';
import { RuntimeError } from '../base/errors.ts';
import { isObject, toLossless } from '../base/json/json.ts';
import { matchesGlob } from '../base/text/glob.ts';
import { suggest } from '../base/text/suggest.ts';
import type { ToolInfo } from '../contract/document.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface OfferedTool {
  readonly info: ToolInfo;
  readonly shown: Tool;
}

/** The tools of the config that can run and match one of the patterns, in its order. Throws USAGE. */
export function offeredTools(
  { tools, file }: Pick<Runtime, 'tools' | 'file'>,
  patterns: readonly string[],
): ReadonlyMap<string, OfferedTool> {
  const runnable = tools.list().filter(({ runtime }) => runtime !== 'none');
  const names = runnable.map(({ name }) => name);
  if (names.length === 0)
    throw new RuntimeError('USAGE', `${file} declares no tool that can run`, {
      hint: 'Declare one under spec.tools, with `exec` (docs/guides/write-tools.md). The log says why tools of spec.mcp_servers are missing.',
    });
  const idle = patterns.find((pattern) => !names.some((name) => matchesGlob(pattern, name)));
  if (idle !== undefined)
    throw new RuntimeError('USAGE', `no tool matches \`${idle}\``, suggest(idle, names, 'tools'));
  const offered = runnable.filter(({ name }) => patterns.some((pattern) => matchesGlob(pattern, name)));
  return new Map(offered.map((info) => [info.name, { info, shown: toShown(info) }]));
}

function toShown({ name, title, description, annotations, input_schema, output_schema }: ToolInfo): Tool {
  const hints = {
    readOnlyHint: annotations.read_only,
    destructiveHint: annotations.destructive,
    idempotentHint: annotations.idempotent,
    openWorldHint: annotations.open_world,
  };
  const known = Object.entries(hints).filter(([, value]) => value !== undefined);
  return {
    name,
    ...(title !== null && { title }),
    ...(description !== '' && { description }),
    ...(known.length > 0 && { annotations: Object.fromEntries(known) }),
    inputSchema: objectSchema(input_schema),
    ...(isObject(output_schema) && { outputSchema: toLossless(output_schema) as Tool['outputSchema'] }),
  } as Tool;
}

/** MCP requires a schema of an object, as arguments are. */
function objectSchema(schema: unknown): Tool['inputSchema'] {
  if (schema === false) return { type: 'object', not: {} };
  const members = isObject(schema) ? (toLossless(schema) as Readonly<Record<string, unknown>>) : {};
  return { ...members, type: 'object' };
}

/** The page at the cursor. Clients may close a connection at a message of 10 MB, so pages are bounded by bytes. */
export function pageOf(
  tools: readonly Tool[],
  cursor: string | undefined,
): { readonly tools: Tool[]; readonly nextCursor?: string } | undefined {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (cursor !== undefined && (!/^\d{1,9}$/.test(cursor) || start >= tools.length)) return undefined;
  let end = start;
  for (let bytes = 0; end < tools.length && end - start < MOST_TOOLS; end += 1) {
    bytes += Buffer.byteLength(JSON.stringify(tools[end]));
    if (bytes > MOST_BYTES && end > start) break;
  }
  return { tools: tools.slice(start, end), ...(end < tools.length && { nextCursor: String(end) }) };
}

const MOST_TOOLS = 1_000;
const MOST_BYTES = 1024 * 1024;
