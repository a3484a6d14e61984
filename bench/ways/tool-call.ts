import { type Contender, defineWay, spread } from '../run/line.ts';
import { openSpec } from '../workspace.ts';

export interface ToolCall {
  /** The `spec` of a RuntimeConfig that declares the tool `bench`. */
  readonly spec: object;
  readonly args: Readonly<Record<string, string>>;
  readonly atOnce: number;
  /** The result is passed on without being parsed. */
  readonly unread?: boolean;
  readonly launcher?: 'native' | 'portable';
}

/** `runtime.tools.call`. */
export const toolCall = defineWay<ToolCall>(import.meta.url);

export async function open({ spec, args, atOnce, unread = false, launcher }: ToolCall): Promise<Contender> {
  const runtime = await openSpec(spec, launcher === undefined ? {} : { launcher });
  const call = async () => {
    const document = await runtime.tools.call('bench', args);
    if (document.status !== 'ok') throw new Error(`the tool did not answer: ${JSON.stringify(document)}`);
    if (!unread && document.result === null) throw new Error('the tool answered nothing');
  };
  return { run: (count) => spread(count, atOnce, call), close: () => runtime.close() };
}
