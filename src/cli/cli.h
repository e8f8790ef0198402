/* The command line: `laju serve`, `laju check`, `laju bench`, `laju config check`, `laju demo race`, `laju version`, `laju help`.
 *
 * Exit codes: 0 is success; 1 says no (a denied check, a bad file, a server that could not start, a Redis that does not answer); 2 is a command line that
 * cannot be understood, or for `laju check` any reason that there is no decision. What went wrong is one line on stderr.
 */
#ifndef LAJU_CLI_CLI_H
#define LAJU_CLI_CLI_H

#define LAJU_EXIT_NO 1
#define LAJU_EXIT_ERROR 2

/* Runs the program; returns its exit code. Once a process (getopt keeps its place in globals), from its main thread. */
int laju_cli_main(int argc, char **argv);

#endif
