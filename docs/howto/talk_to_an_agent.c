/* The program of talk-to-an-agent.md: one question to an agent, its answer on the standard output. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "watchbill/watchbill.h"

static wb_now now(void) {
  struct timespec mono, wall;
  wb_now n;
  clock_gettime(CLOCK_MONOTONIC, &mono);
  clock_gettime(CLOCK_REALTIME, &wall);
  n.mono_ns = (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec;
  n.wall_ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000;
  return n;
}

static wb_str str(const char* text) {
  wb_str s;
  s.data = text;
  s.size = strlen(text);
  return s;
}

static void say(FILE* to, wb_str text) {
  if (text.data != NULL) fwrite(text.data, 1, text.size, to);
}

/* Starts the agent in a process group of its own, with a pipe at each end; its standard error is ours. */
static pid_t start(char** command, int* to_agent, int* from_agent) {
  int in[2], out[2];
  pid_t pid;
  if (pipe(in) != 0 || pipe(out) != 0 || (pid = fork()) < 0) return -1;
  if (pid == 0) {
    setpgid(0, 0);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  setpgid(pid, pid);
  close(in[0]), close(out[1]);
  *to_agent = in[1];
  *from_agent = out[0];
  return pid;
}

/* What happened in the conversation: goes on with it. 1: it is over and was answered; -1: over, and it was
 * not. */
static int go_on(wb_acp_client* client, const char* folder, const char* question) {
  wb_acp_event event = {0};
  wb_error err = {0};
  event.struct_size = sizeof event;
  while (wb_acp_client_next(client, &event, &err) == 0) {
    int32_t result = WB_OK;
    switch (event.kind) {
      case WB_ACP_HANDSHAKE_DONE:
        result = wb_acp_client_session_new(client, str(folder), now(), NULL, &err);
        break;
      case WB_ACP_SESSION_OPENED:
        result = wb_acp_client_prompt(client, event.session, str(question), NULL, &err);
        break;
      case WB_ACP_UPDATED: /* what comes from outside is data: a terminal would need it cleaned */
        if (event.word.size == 19 && memcmp(event.word.data, "agent_message_chunk", 19) == 0)
          say(stdout, event.text);
        break;
      case WB_ACP_PERMISSION_ASKED: /* nobody is here to be asked */
        result = wb_acp_client_refuse(client, event.call, &err);
        break;
      case WB_ACP_PROMPT_ENDED:
        if (event.text.data == NULL) return printf("\n"), 1;
        /* fall through */
      case WB_ACP_CALL_FAILED:
      case WB_ACP_HANDSHAKE_FAILED:
        fputs("the agent: ", stderr);
        say(stderr, event.text);
        fputs("\n", stderr);
        return -1;
      default:
        break;
    }
    if (result < 0) return fprintf(stderr, "%s\n", err.text), -1;
  }
  return 0;
}

/* Moves bytes both ways until the conversation is over. Reading goes on while a write waits: pipes are small.
 */
static int converse(wb_acp_client* client, int to_agent, int from_agent, const char* folder,
                    const char* question) {
  static char bytes[65536];
  int over = 0;
  while ((over = go_on(client, folder, question)) == 0) {
    const wb_str out = wb_acp_client_output(client);
    const int64_t deadline = wb_acp_client_deadline(client);
    const int64_t left_ms = deadline == INT64_MAX ? -1 : (deadline - now().mono_ns) / 1000000 + 1;
    struct pollfd fds[2] = {{from_agent, POLLIN, 0}, {out.size > 0 ? to_agent : -1, POLLOUT, 0}};
    if (poll(fds, 2, left_ms < 0 ? (deadline == INT64_MAX ? -1 : 0) : (int)left_ms) < 0 && errno != EINTR)
      return -1;
    wb_acp_client_tick(client, now(), NULL);
    if (fds[1].revents != 0) {
      /* One page at most: more could wait for an agent that waits for us to read. */
      const ssize_t n = write(to_agent, out.data, out.size < 4096 ? out.size : 4096);
      if (n > 0) wb_acp_client_consume(client, (size_t)n);
      if (n < 0 && errno != EINTR) wb_acp_client_end(client, str("it reads no more"), NULL);
    }
    if (fds[0].revents != 0) {
      const ssize_t n = read(from_agent, bytes, sizeof bytes);
      wb_str read_now;
      read_now.data = bytes;
      read_now.size = n > 0 ? (size_t)n : 0;
      if (n > 0) wb_acp_client_feed(client, read_now, NULL);
      if (n == 0) wb_acp_client_end(client, str("it has ended"), NULL);
    }
  }
  return over;
}

/* Its input is closed by now: five seconds to end by itself, three after SIGTERM, then it and all it started
 * is killed. */
static void stop(pid_t pid) {
  int tenths;
  for (tenths = 0; waitpid(pid, NULL, WNOHANG) == 0; ++tenths) {
    const struct timespec tenth = {0, 100000000};
    if (tenths == 50) kill(-pid, SIGTERM);
    if (tenths == 80) kill(-pid, SIGKILL);
    nanosleep(&tenth, NULL);
  }
  kill(-pid, SIGKILL);
}

int main(int argc, char** argv) {
  int to_agent, from_agent, over;
  pid_t pid;
  char folder[4096];
  wb_acp_client* client = NULL;
  wb_error err = {0};
  if (argc < 3 || getcwd(folder, sizeof folder) == NULL) {
    fprintf(stderr, "usage: %s QUESTION AGENT [ARGUMENT…]\n", argv[0]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  if (wb_acp_client_new(NULL, &client, &err) < 0 ||
      wb_acp_client_initialize(client, str("talk_to_an_agent"), str("1"), now(), &err) < 0) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  pid = start(argv + 2, &to_agent, &from_agent);
  if (pid < 0) {
    perror("start");
    return 1;
  }
  over = converse(client, to_agent, from_agent, folder, argv[1]);
  close(to_agent);
  close(from_agent);
  stop(pid);
  wb_acp_client_free(client);
  return over > 0 ? 0 : 1;
}
