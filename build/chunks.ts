/** What rolldown tells of a module. */
interface Graph {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importedIds: readonly string[] } | null;
}

/**
 * Names the chunk of a module: those that are loaded together, because the same of the `roots` need them, share one. A root
 * is some modules that are loaded whole, their static imports with them; a module that no root needs gets no name. What the first
 * root needs is always loaded, and makes one chunk. Of the roots in `programs`, which never load together, those that share a
 * module with another root share one chunk with it: each is small, and a start reads fewer files.
 */
export function chunksOf(roots: Readonly<Record<string, readonly string[]>>, programs: ReadonlySet<string>) {
  let closures: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (id: string, graph: Graph): string | null => {
    // An entry has a file of its own, which stands for its name.
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
