/** Lines of a Markdown table with its columns aligned, so that a terminal shows it as well. */
export function markdownTable(columns: readonly string[], body: readonly (readonly string[])[]): string[] {
  const rows = [columns, columns.map(() => '---'), ...body];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `| ${row.map((cell, column) => pad(cell, widths[column] ?? 0)).join(' | ')} |`);
}

/** The rule under the header is as wide as its column. */
function pad(cell: string, width: number): string {
  return cell === '---' ? '-'.repeat(width) : cell.padEnd(width);
}
