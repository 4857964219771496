"""The libraries that decide import nothing with which something could be done: no file, clock, thread, random number or
socket. What they define themselves or take from each other is not looked at."""
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"^("
    r"open|open64|openat|openat64|creat|read|pread|pread64|write|pwrite|pwrite64|fopen|fopen64|fdopen|fread|fwrite|fputs|puts|printf|fprintf|"
    r"unlink|rename|mkdir|rmdir|stat|stat64|fstat|fstat64|lstat|lstat64|access|mmap|mmap64|ioctl|fcntl|fcntl64|"
    r"socket|connect|bind|listen|accept|accept4|send|sendto|sendmsg|recv|recvfrom|recvmsg|poll|epoll_.*|select|getaddrinfo|"
    r"clock_gettime|gettimeofday|time|localtime|localtime_r|gmtime|nanosleep|usleep|sleep|"
    r"pthread_create|fork|vfork|execve?|execvp?|posix_spawnp?|kill|signal|sigaction|"
    r"rand|random|srand|drand48|getrandom|getentropy|arc4random|"
    r"getenv|secure_getenv|setenv|putenv|syslog|"
    r"_ZNSt6chrono.*clock.*nowEv|_ZNSt6thread.*|_ZNSt13random_device.*|_ZNSt13basic_.*stream.*|_ZNSt14basic_.*stream.*|_ZSt4cout|_ZSt4cerr|_ZSt4clog"
    r")$")

nm, *archives = sys.argv[1:]
bad = []
for archive in archives:
    output = subprocess.run([nm, "--undefined-only", archive], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip() and not line.endswith(":")}
    if not names:
        bad.append(f"{archive}: nothing could be read of it")
    bad += [f"{archive}: {name}" for name in sorted(names) if FORBIDDEN.match(name)]
print("\n".join(bad) or "ok")
sys.exit(1 if bad else 0)
