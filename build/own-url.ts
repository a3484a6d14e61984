import { join, posix, relative } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Lets each module of src know its own address still: `import.meta.url` in src/a/b.ts is that of dist/a/b.js, in whichever
 * chunk the module ends, so that files beside it and packages are found alike from the source and from the bundle.
 */
export function ownUrl(source: string): Plugin {
  return {
    name: 'own-url',
    transform(code, id) {
      const file = relative(source, id);
      if (file.startsWith('..') || !code.includes('import.meta.url')) return null;
      // A thread is started by its file, so it has one of its own.
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

/** As src names the file of a thread, whose ending is its own. */
const thread = /new URL\(`\.\/([\w-]+)\$\{extname\(import\.meta\.url\)\}`/g;

/** Stands for the way from a chunk to dist/, which is known when the chunks are. */
const mark = '@dist@';
