import { dirname, resolve } from 'node:path';
import type { YamlDocument } from '../../../base/yaml/document.ts';

/** The file of a pipeline that a file names, absolute. */
export function fileBelow({ file }: Pick<YamlDocument, 'file'>, named: string): string {
  return resolve(dirname(file), named);
}
