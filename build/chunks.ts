/** The module information that rolldown provides. */
interface Graph {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importedIds: readonly string[] } | null;
}

/**
 * Names the chunk of a module. Modules that the same `roots` need share a chunk. A root is a list of modules that are
 * loaded whole with their static imports; a module that no root needs has no name. The first root is always loaded and
 * forms one chunk. Roots in `programs` never load together. Those that share a module with another root share its
 * chunk: each is small, and a start reads fewer files.
 */
export function chunksOf(roots: Readonly<Record<string, readonly string[]>>, programs: ReadonlySet<string>) {
  let closures: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (id: string, graph: Graph): string | null => {
    // An entry has its own file.
    if (graph.getModuleInfo(id)?.isEntry === true) return null;
    closures ??= new Map(Object.entries(roots).map(([name, files]) => [name, closureOf(files, graph)]));
    const names = [...closures].filter(([, closure]) => closure.has(id)).map(([name]) => name);
    const [first] = closures.keys();
    if (names[0] === first) return first ?? null;
    const others = names.filter((name) => !programs.has(name));
    const isShared = others.length > 0 && others.length < names.length;
    return [...(isShared ? [...others, 'programs'] : names)].join('-') || null;
  };
}

function closureOf(files: readonly string[], graph: Graph): Set<string> {
  const found = new Set(files);
  for (const id of found) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  }
  return found;
}
