import { join } from 'node:path';
import type { SourceFiles } from '../../suite-import/source-files.ts';
import { envNamesOfFile } from '../env-names.ts';
import { programOf } from '../program.ts';
import type { PromptBody } from './prompt-model.ts';

/** The entry of `spec.tools` that makes a prompt of the variables of a case. */
export function promptProgramOf(
  { language, code }: Extract<PromptBody, { readonly kind: 'program' }>,
  files: SourceFiles,
): Readonly<Record<string, unknown>> {
  const file = 'file' in code ? code.file : '';
  const member = 'file' in code ? code.member : '';
  const found = files.find(file);
  const env = 'fault' in found ? [] : envNamesOfFile(found.file);
  return {
    description: `Makes the prompt of ${join(file)}.`,
    input_schema: {
      type: 'object',
      required: ['vars'],
      properties: { vars: { type: 'object' }, provider: { type: 'string' } },
    },
    exec: { ...programOf(language, ['prompt', file, member], files), ...(env.length > 0 && { env }) },
  };
}
