import { join, posix, relative } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Preserves `import.meta.url` of each module of src: in src/a/b.ts it is the URL of dist/a/b.js, whichever chunk
 * contains the module. Neighboring files and packages thus resolve alike from source and bundle.
 */
export function ownUrl(source: string): Plugin {
  return {
    name: 'own-url',
    transform(code, id) {
      const file = relative(source, id);
      if (file.startsWith('..') || !code.includes('import.meta.url')) return null;
      // A thread is started from a file, so each has its own.
      for (const [, name = ''] of code.matchAll(thread)) {
        const started = posix.join(posix.dirname(file), name);
        this.emitFile({ type: 'chunk', id: join(source, `${started}.ts`), fileName: `${started}.js` });
      }
      const own = `new URL('${mark}/${file.replace(/\.ts$/, '.js')}', import.meta.url).href`;
      return { code: code.replaceAll('import.meta.url', own), map: null };
    },
    renderChunk: (code, { fileName }) =>
      code.includes(mark) ? code.replaceAll(mark, posix.relative(posix.dirname(fileName), '') || '.') : null,
  };
}

/** The form in which src names the file of a thread. The extension is that of the current file. */
const thread = /new URL\(`\.\/([\w-]+)\$\{extname\(import\.meta\.url\)\}`/g;

/** A placeholder for the relative path from a chunk to dist/, which is known only after chunking. */
const mark = '@dist@';
