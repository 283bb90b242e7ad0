/** Formats a local time as Python's `strftime` does in the C locale. Unknown directives stay as they are. */
export function formatDate(date: Date, format: string): string {
  const name = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-US', options).format(date);
  return format.replaceAll(/%[aAbBdHmMSYyp%]/g, (directive) => {
    switch (directive) {
      case '%a':
        return name({ weekday: 'short' });
      case '%A':
        return name({ weekday: 'long' });
      case '%b':
        return name({ month: 'short' });
      case '%B':
        return name({ month: 'long' });
      case '%d':
        return twoDigits(date.getDate());
      case '%H':
        return twoDigits(date.getHours());
      case '%m':
        return twoDigits(date.getMonth() + 1);
      case '%M':
        return twoDigits(date.getMinutes());
      case '%S':
        return twoDigits(date.getSeconds());
      case '%Y':
        return String(date.getFullYear());
      case '%y':
        return twoDigits(date.getFullYear() % 100);
      case '%p':
        return date.getHours() < 12 ? 'AM' : 'PM';
      default:
        return '%';
    }
  });
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
