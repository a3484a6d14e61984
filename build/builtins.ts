import { isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

/**
 * Loads modules of Node through `process.getBuiltinModule`; modules that Node has not loaded itself are loaded on first
 * use. An import statement loads them at once and reads every export. Some exports load further modules when they are
 * read, such as `fs.ReadStream` and `util.MIMEType`. This takes one to five milliseconds for each of fs, util, net,
 * crypto and child_process.
 */
export function builtins(): Plugin {
  return {
    name: 'builtins',
    renderChunk(code) {
      const changed = code.replaceAll(statement, (whole, clause: string, name: string) =>
        isBuiltin(name) ? toConstants(clause, name) : whole,
      );
      if (!changed.includes(helperName)) return changed;
      return changed.replace(/^(?:#!.*\n)?/, (shebang) => `${shebang}${helper}\n`);
    },
  };
}

/** The form that the bundler writes, at the top of a chunk. */
const statement = /^import (.+) from "([^"]+)";$/gm;

/** Modules that Node loads before it runs a program. */
const loaded = new Set([
  ...['node:async_hooks', 'node:buffer', 'node:events', 'node:fs', 'node:module', 'node:os', 'node:path'],
  ...['node:process', 'node:timers', 'node:url', 'node:util'],
]);

/** Throws Error for an unknown form of import. */
function toConstants(clause: string, given: string): string {
  const name = given.startsWith('node:') ? given : `node:${given}`;
  const [, plain, named = '', space] =
    /^(?:([\w$]+)(?:, )?)?(?:\{ (.+) \}|\* as ([\w$]+))?$/.exec(clause) ?? [];
  const wholes = [plain, space].filter((each) => each !== undefined);
  if (wholes.length === 0 && named === '') throw new Error(`import ${clause} from ${name} is not understood`);
  const members = named.split(', ').filter((part) => part !== '');
  return [
    ...wholes.map((local) => toConstant(local, name)),
    ...members.map((part) => toMember(part, name)),
  ].join('\n');
}

function toMember(part: string, name: string): string {
  const [key = '', local = key] = part.split(' as ');
  return toConstant(local, name, key);
}

function toConstant(local: string, name: string, key = ''): string {
  const builtin = process.getBuiltinModule(name);
  const value: unknown = key === '' ? builtin : Reflect.get(builtin ?? {}, key);
  const canWait = !loaded.has(name) && (key === '' || typeof value === 'function');
  if (canWait) return `const ${local} = ${helperName}("${name}", "${key}");`;
  // A Node version without getBuiltinModule must still reach the version check.
  return `const ${local} = process.getBuiltinModule?.("${name}")${key === '' ? '' : `?.${key}`};`;
}

const helperName = '__builtin';

/** A proxy for the module, or for one of its functions or classes. */
const helper = `const ${helperName} = (name, key) => {
	let real;
	const get = () => (real ??= key === "" ? process.getBuiltinModule(name) : process.getBuiltinModule(name)[key]);
	const proxy = new Proxy(function () {}, {
		get: (_, member) => Reflect.get(get(), member),
		has: (_, member) => Reflect.has(get(), member),
		apply: (_, self, args) => Reflect.apply(get(), self, args),
		construct: (_, args, target) => Reflect.construct(get(), args, target === proxy ? get() : target),
	});
	return proxy;
};`;
