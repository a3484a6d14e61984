import { toShellLine } from '../../base/files/shell-line.ts';
import { filesOf } from './identity.ts';

/** The `--config` options of the files that an identity names, with a blank before each, for a POSIX shell. */
export function configOptions(identity: string): string {
  const { file, overlays } = filesOf(identity);
  return [file, ...overlays].map((each) => ` --config ${toShellLine([each])}`).join('');
}
