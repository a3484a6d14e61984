import { RuntimeError } from '../../errors.ts';
import { hintOfTags } from '../select/tag-watch.ts';
import type { Side } from './side.ts';

/** Throws USAGE, with the known tags as the hint; to be called when no case of the side has its tag. */
export async function refuseUnknownTag({ source, tag }: Side): Promise<void> {
  if (tag === undefined) return;
  const known = new Set<string>();
  for await (const { tags } of source.cases()) for (const each of tags) known.add(each);
  const message = `no case of run ${source.header.run_id} has the tag "${tag}"`;
  throw new RuntimeError('USAGE', message, hintOfTags(tag, known));
}
