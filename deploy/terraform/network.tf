# Two groups: hosts that run croupier, and the database that only they reach.
resource "aws_security_group" "hosts" {
  # checkov:skip=CKV2_AWS_5: attached to the hosts, which this sample does not create
  name        = "${var.name}-hosts"
  description = "Hosts of serve and release"
  vpc_id      = var.vpc_id
}

resource "aws_security_group" "database" {
  name        = "${var.name}-database"
  description = "PostgreSQL, reached by the hosts of serve and release alone"
  vpc_id      = var.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "reports" {
  description                  = "Reports, from the proxy that terminates TLS"
  security_group_id            = aws_security_group.hosts.id
  referenced_security_group_id = var.proxy_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = 8000
  to_port                      = 8000
}

resource "aws_vpc_security_group_egress_rule" "to_database" {
  description                  = "PostgreSQL"
  security_group_id            = aws_security_group.hosts.id
  referenced_security_group_id = aws_security_group.database.id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}

resource "aws_vpc_security_group_ingress_rule" "from_hosts" {
  description                  = "PostgreSQL, from serve and release"
  security_group_id            = aws_security_group.database.id
  referenced_security_group_id = aws_security_group.hosts.id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}
